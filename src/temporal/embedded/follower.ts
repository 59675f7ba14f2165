// A command's connection to the embedded stack of this state folder. A keeper starts the stack if none is running,
// keeps it alive, and restarts it if it is killed. A reader joins a running stack and changes nothing.
//
//   joined ──the stack is killed──▶ regaining ──▶ joined again, at another address ──leave──▶ left
//                                       └──a reader, and nobody starts it again──▶ lost

import { setTimeout as wait } from 'node:timers/promises';
import { EMBEDDED } from '../../errors/codes.ts';
import { problem, errorMessage } from '../../errors/error.ts';
import { assertDiskSpace } from '../../host/disk-space.ts';
import { isSameService } from '../../host/service-address.ts';
import { rememberStateFolder, takeStateFolder } from '../../host/state-folder.ts';
import { notesFolder } from '../../host/user-folders.ts';
import type { TemporalAddress } from '../temporal-address.ts';
import type { StackMessage } from './control-port.ts';
import { joinOrStart, joinStack, send, type FollowParams, type Joined } from './join-stack.ts';
import { livingRecord } from './stack-file.ts';

const AGAIN_AFTER_LOSS_MS = 500;
/** How long a reader waits for a keeper to restart a lost stack. */
const REJOIN_MS = 12_000;

/** Joins the running stack as a keeper, or starts one. */
export async function followStack(params: FollowParams): Promise<Follower> {
  const follower = new Follower(params, await joinOrStart(params), true);
  const { home, environment } = params.config;
  rememberStateFolder(home, notesFolder(environment));
  return follower;
}

/** Joins the running stack as a reader; undefined if none is running. */
export async function readStack(params: FollowParams): Promise<Follower | undefined> {
  if (livingRecord(params.config.home) !== undefined) takeStateFolder(params.config.home);
  const joined = await joinStack(params, false);
  return joined && new Follower(params, joined, false);
}

export class Follower {
  readonly #params: FollowParams;
  readonly #keeps: boolean;
  readonly #leaving = Promise.withResolvers<void>();
  readonly #lost = Promise.withResolvers<void>();
  #joined: Joined;
  #isLeaving = false;
  /** Whether batches run for this command, and for anybody. */
  #works: boolean;
  #isWorking: boolean;
  /** The address to which the client of this command is connected. */
  #known: string;
  #onPending: ((onWire: number) => void) | undefined;
  #moved: (at: TemporalAddress) => Promise<void> = async () => undefined;

  /** Throws E602 if the stack was started for another run service. */
  constructor(params: FollowParams, joined: Joined, keeps: boolean) {
    [this.#params, this.#joined, this.#keeps] = [params, joined, keeps];
    if (keeps) assertSameService(params, joined);
    this.#works = params.works ?? true;
    this.#isWorking = joined.ready.wasWorking ?? true;
    this.#known = joined.ready.address;
    this.#watch(joined);
  }

  get ready(): Joined['ready'] {
    return this.#joined.ready;
  }

  get temporal(): TemporalAddress {
    return addressOf(this.#joined);
  }

  /** Whether another command keeps the stack until its user stops it. */
  get isKept(): boolean {
    return this.ready.isKept ?? false;
  }

  /**
   * Resolves when the stack has ended, or no batch runs any more; only for a reader, because a keeper restarts the
   * stack.
   */
  get lost(): Promise<void> {
    return this.#lost.promise;
  }

  /** Whether batches run; if not, the servers run for a command that only looks. */
  get isWorking(): boolean {
    return this.#isWorking;
  }

  /** Awaits `hear` whenever the server has restarted at another address. */
  onMove(hear: (at: TemporalAddress) => Promise<void>): void {
    this.#moved = hear;
  }

  /** From now on batches run for this command; false if they did so before. */
  work(): boolean {
    if (!this.#works) send(this.#joined.socket, { type: 'work' });
    const isNew = !this.#isWorking;
    this.#works = this.#isWorking = true;
    return isNew;
  }

  /** Leaves the stack; resolves when it has ended or has other followers. */
  leave(onPending?: (onWire: number) => void): Promise<void> {
    this.#isLeaving = true;
    this.#onPending = onPending;
    const { socket } = this.#joined;
    // A stack does not wait for readers, so a reader does not wait for the answer of a frozen stack.
    if (!this.#keeps) socket.destroy();
    if (socket.destroyed) this.#leaving.resolve();
    else send(socket, { type: 'leave' });
    return this.#leaving.promise;
  }

  /** Throws E604 if the disk of the servers is nearly full. */
  assertDiskSpace(): void {
    assertDiskSpace(this.#params.config.home);
  }

  /** While leaving: stops waiting for pending requests. */
  hurry(): void {
    send(this.#joined.socket, { type: 'now' });
  }

  #watch({ socket, listen }: Joined): void {
    listen((message) => this.#hear(message));
    socket.once('close', () => (this.#isLeaving ? this.#leaving.resolve() : void this.#regain()));
  }

  #hear(message: StackMessage): void {
    if (message.type === 'notice') this.#params.notice(message.text);
    else if (message.type === 'stopping') this.#onPending?.(message.onWire);
    else if (message.type === 'left') this.#leaving.resolve();
    else if (message.type === 'working') this.#isWorking = true;
    else if (message.type === 'resting') {
      this.#isWorking = false;
      // Nobody runs the batches that the reader shows.
      if (!this.#keeps) this.#lost.resolve();
    }
  }

  /** Joins again after the stack was killed; its state is on disk. */
  async #regain(): Promise<void> {
    const again = await (this.#keeps ? this.#startAgain() : joinAgain(this.#params));
    if (again === undefined || this.#isLeaving) {
      again?.socket.destroy();
      this.#leaving.resolve();
      return this.#lost.resolve();
    }
    this.#joined = again;
    this.#isWorking = this.#works || (again.ready.wasWorking ?? true);
    this.#watch(again);
    await this.#move();
  }

  /** undefined once the command leaves. */
  async #startAgain(): Promise<Joined | undefined> {
    const { notice } = this.#params;
    while (!this.#isLeaving) {
      try {
        notice('the embedded servers were lost; starting them again');
        return await joinOrStart({ ...this.#params, works: this.#works });
      } catch (error) {
        notice(`the embedded servers did not start again: ${errorMessage(error)}`);
        await wait(AGAIN_AFTER_LOSS_MS);
      }
    }
    return undefined;
  }

  async #move(): Promise<void> {
    while (!this.#isLeaving && !this.#joined.socket.destroyed && this.ready.address !== this.#known) {
      try {
        const at = this.temporal;
        await this.#moved(at);
        this.#known = at.address;
      } catch (error) {
        this.#params.notice(`the embedded servers do not answer: ${errorMessage(error)}`);
        await wait(AGAIN_AFTER_LOSS_MS);
      }
    }
  }
}

/** undefined if no stack was started within {@link REJOIN_MS}. */
async function joinAgain(params: FollowParams): Promise<Joined | undefined> {
  for (const until = Date.now() + REJOIN_MS; Date.now() < until;) {
    await wait(AGAIN_AFTER_LOSS_MS);
    const joined = await joinStack(params, false).catch(() => undefined);
    if (joined !== undefined) return joined;
  }
  return undefined;
}

const addressOf = ({ ready: { address, namespace } }: Joined): TemporalAddress => ({
  address,
  namespace,
  from: EMBEDDED,
  options: {},
});

/** Throws if the stack was started for another run service, so that its worker has no key for ours. */
function assertSameService({ config, service }: FollowParams, { ready, socket }: Joined): void {
  // The worker knows services that have names.
  if (service || config.service !== undefined) return;
  const { apiUrl: wanted } = config;
  if (wanted === undefined || isSameService({ base: wanted }, { base: ready.apiUrl ?? '' })) return;
  socket.destroy();
  throw problem('E602', {
    what: `the embedded servers of ${config.home} are in use for ${ready.apiUrl ?? 'the local run service only'}, and this command needs ${config.apiUrl}`,
    hint: 'stop the other command first, or set RUNSHEET_HOME to another folder for this one',
  });
}
