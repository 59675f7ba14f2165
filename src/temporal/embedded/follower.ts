// A command's connection to the embedded stack of this state folder. A keeper starts the stack if none is running, keeps it
// alive, and starts it again if it is killed. A reader joins a running stack and changes nothing.

import { isSameService } from '../../host/service-address.ts';
import { mkdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Config } from '../../host/config.ts';
import { EXIT, RunsheetError, problem, errorMessage, type Code } from '../../errors/error.ts';
import { takeStateFolder } from '../../host/state-folder.ts';
import { assertDiskSpace } from '../../host/disk-space.ts';
import { refuseUnbuildable } from '../clone-path.ts';
import type { TemporalAddress } from '../temporal-address.ts';
import {
  type FollowerMessage,
  readJsonLines,
  STACK_MESSAGES,
  type StackMessage,
  writeJsonLine,
} from './control-port.ts';
import { beginStack, stackLog } from './spare-stack.ts';
import { livingRecord, readRecord } from './stack-file.ts';

export type FollowParams = {
  readonly config: Config;
  readonly service: boolean;
  /** It is there only to keep the stack (default: false). */
  readonly stays?: boolean;
  readonly notice: (text: string) => void;
};

export type Follower = Awaited<ReturnType<typeof followStack>>;

type Ready = Extract<StackMessage, { type: 'ready' }>;
type Joined = {
  readonly socket: Socket;
  readonly ready: Ready;
  /** Replaces the handler of the stack's messages. */
  readonly listen: (hear: (message: StackMessage) => void) => void;
};

const START_MS = 300_000;
const ASK_AGAIN_MS = 30;
const AGAIN_AFTER_LOSS_MS = 500;
/** How long a command waits for the first answer of a stack. */
const ANSWER_MS = 5_000;

/** How long a reader waits for a keeper to start a lost stack again. */
const REJOIN_MS = 12_000;

export async function followStack(params: FollowParams) {
  return follow(params, await joinOrStart(params), true);
}

/** Joins the running stack as a reader; undefined if none is running. */
export async function readStack(params: FollowParams): Promise<Follower | undefined> {
  if (livingRecord(params.config.home) !== undefined) takeStateFolder(params.config.home);
  const joined = await joinStack(params, false);
  return joined && follow(params, joined, false);
}

function follow(params: FollowParams, first: Joined, keeps: boolean) {
  let joined = first;
  if (keeps) assertSameService(params, joined);
  const leaving = Promise.withResolvers<void>();
  const lost = Promise.withResolvers<void>();
  let isLeaving = false;
  let onPending: ((onWire: number) => void) | undefined;
  let moved: (at: TemporalAddress) => Promise<void> = async () => undefined;

  const watch = ({ socket, listen }: Joined): void => {
    listen((message) => {
      if (message.type === 'notice') params.notice(message.text);
      if (message.type === 'stopping') onPending?.(message.onWire);
      if (message.type === 'left') leaving.resolve();
    });
    socket.once('close', () => (isLeaving ? leaving.resolve() : void regain()));
  };

  /** The stack was killed; its state is on disk. */
  const regain = async (): Promise<void> => {
    const again = await (keeps ? startAgain(params, () => isLeaving) : joinAgain(params));
    if (again === undefined || isLeaving) {
      again?.socket.destroy();
      leaving.resolve();
      return lost.resolve();
    }
    watch((joined = again));
    await move();
  };

  let known = joined.ready.address;
  const move = async (): Promise<void> => {
    while (!isLeaving && !joined.socket.destroyed && joined.ready.address !== known) {
      try {
        const { address } = joined.ready;
        await moved(addressOf(joined));
        known = address;
      } catch (error) {
        params.notice(`the embedded servers do not answer: ${errorMessage(error)}`);
        await wait(AGAIN_AFTER_LOSS_MS);
      }
    }
  };

  watch(joined);
  return {
    ...joined.ready,
    temporal: addressOf(joined),
    /** Resolves when the stack has ended; only for a reader, because a keeper starts it again. */
    lost: lost.promise,
    /** Awaits `hear` whenever the server has restarted at another address. */
    onMove: (hear: (at: TemporalAddress) => Promise<void>): void => {
      moved = hear;
    },
    /** Leaves the stack; resolves when it has ended or has other followers. */
    leave: (callback?: (onWire: number) => void): Promise<void> => {
      isLeaving = true;
      onPending = callback;
      // The stack does not wait for a reader, so that a reader waits for no answer of a frozen stack.
      if (!keeps) joined.socket.destroy();
      if (joined.socket.destroyed) leaving.resolve();
      else send(joined.socket, { type: 'leave' });
      return leaving.promise;
    },
    /** Throws E604 if the disk of the servers is nearly full. */
    assertDiskSpace: (): void => assertDiskSpace(params.config.home),
    /** While leaving: does not wait for pending requests. */
    hurry: (): void => send(joined.socket, { type: 'now' }),
  };
}

/** undefined once the command leaves. */
async function startAgain(params: FollowParams, isLeaving: () => boolean): Promise<Joined | undefined> {
  while (!isLeaving()) {
    try {
      params.notice('the embedded servers were lost; starting them again');
      return await joinOrStart(params);
    } catch (error) {
      params.notice(`the embedded servers did not start again: ${errorMessage(error)}`);
      await wait(AGAIN_AFTER_LOSS_MS);
    }
  }
  return undefined;
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
  from: 'the embedded server',
  options: {},
});

/** Throws if the stack was started for another run service: its worker has no key for ours. */
function assertSameService({ config, service }: FollowParams, { ready, socket }: Joined): void {
  // Its worker knows the services with names.
  if (service || config.service !== undefined) return;
  const { apiUrl: wanted } = config;
  if (wanted === undefined || isSameService({ base: wanted }, { base: ready.apiUrl ?? '' })) return;
  socket.destroy();
  throw problem('E602', {
    what: `the embedded servers of ${config.home} are in use for ${ready.apiUrl ?? 'the local run service only'}, and this command needs ${config.apiUrl}`,
    hint: 'stop the other command first, or set RUNSHEET_HOME to another folder for this one',
  });
}

/** Joins the running stack, or starts one; another command may be doing the same concurrently. */
async function joinOrStart(params: FollowParams): Promise<Joined> {
  const { home } = params.config;
  refuseUnbuildable();
  takeStateFolder(home);
  mkdirSync(join(home, 'logs'), { recursive: true, mode: 0o700 });
  for (const until = Date.now() + START_MS; ;) {
    assertDiskSpace(home);
    const joined = (await joinStack(params, true)) ?? (await startAndJoin(params));
    if (joined !== undefined) return joined;
    if (Date.now() > until) throw problem('E406', { what: 'the stack does not answer', log: stackLog(home) });
    await wait(ASK_AGAIN_MS);
  }
}

/** undefined if no stack answers or it is stopping. Throws if the stack could not start. */
async function joinStack(params: FollowParams, keeps: boolean): Promise<Joined | undefined> {
  const record = livingRecord(params.config.home);
  const socket = record && (await connectTo(record.control.port));
  if (record === undefined || socket === undefined) return undefined;
  const { word, answer } = record.control;
  const { service, stays = false } = params;
  send(socket, { type: 'hold', word, service: keeps && service, keeps, stays });
  return new Promise((done, failed) => {
    let hear = (message: StackMessage): void => {
      if (message.type === 'notice') params.notice(message.text);
      else if (message.type === 'ready') {
        clearTimeout(timer);
        done({ socket, ready: message, listen });
      } else if (message.type === 'failed') failed(failureOf(message));
    };
    const listen: Joined['listen'] = (next) => (hear = next);
    let isOurs = false;
    readJsonLines(socket, STACK_MESSAGES, (message) => {
      // The stack may be dead, and another program may use its port.
      isOurs ||= message.type === 'held' && message.answer === answer;
      if (!isOurs) return void socket.destroy();
      // A keeper waits for servers that start; a reader asks servers that run.
      if (keeps) clearTimeout(timer);
      hear(message);
    });
    socket.on('error', () => undefined);
    socket.once('close', () => done(undefined));
    const timer = setTimeout(() => socket.destroy(), ANSWER_MS);
  });
}

function failureOf({ code, message, hint }: Extract<StackMessage, { type: 'failed' }>): RunsheetError {
  return new RunsheetError(code as Code, message, { exit: EXIT.unreachable, hint });
}

async function startAndJoin(params: FollowParams): Promise<Joined | undefined> {
  const { home } = params.config;
  const child = beginStack(params.config);
  let hasEnded = false;
  child.once('exit', () => (hasEnded = true));
  child.once('error', () => (hasEnded = true));
  while (!hasEnded) {
    if (readRecord(home)?.pid === child.pid) return joinStack(params, true);
    await wait(ASK_AGAIN_MS);
  }
  return undefined;
}

function connectTo(port: number): Promise<Socket | undefined> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => done(socket));
    socket.once('error', () => done(undefined));
  });
}

const send = (socket: Socket, message: FollowerMessage): void => writeJsonLine(socket, message);
