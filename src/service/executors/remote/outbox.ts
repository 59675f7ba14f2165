// Sends the runs that a server has been given, one after another. The rounds of the server do not wait for it: a request without an answer must not keep
// the others from being looked at or cancelled.

import { errorMessage } from '../../../errors/error.ts';
import { NO_WORK } from '../executor.ts';
import { sentOf, withLine, type AssignedRun, type RunState } from './assigned-run.ts';
import {
  Blocked,
  Unreachable,
  type Backend,
  type BusyWhy,
  type PutFile,
  type Sent,
  type Submitted,
} from './backend.ts';
import type { ServerDeps, Timing } from './server-deps.ts';
import { NO_FILES } from './filled-workflow.ts';
import { afterLostAnswer, afterSpent, guaranteeFor } from './repetition.ts';
import type { RunEnds } from './run-ends.ts';
import type { SeatCount } from './seats.ts';
import { ATTEMPTS_MOST, waitMsAfter } from './kept-files.ts';
import { Trial } from './trial.ts';

export type Sender = {
  readonly name: string;
  readonly backend: Backend;
  readonly runs: Map<string, AssignedRun>;
  readonly seats: SeatCount;
  readonly ends: RunEnds;
  readonly load: number;
  readonly isClosed: () => boolean;
  readonly socket: {
    /** The connection; undefined if there is none. */
    readonly connection: () => number | undefined;
  };
  accepted(one: AssignedRun, connection: number | undefined, ref: string | undefined): void;
  sendAnew(one: AssignedRun, reason: string): void;
  keep(one: AssignedRun, state: RunState): void;
  unknownForMs(one: AssignedRun): number;
};

type Hold = {
  readonly why: BusyWhy;
  readonly reason: string;
  readonly sinceMs: number;
  readonly untilMs: number;
};

/** By the monotonic clock, like all of a hold: no run may be there that is tried when it ends. */
const HELD_MORE_MS = 30_000;
const FORGOT = 'does not show this run, which it may have been given already';
/** The files of so many runs are put on a server at the same time. */
const PUTTING_MOST = 2;

export class Outbox {
  /** The run whose request has no answer yet. */
  posting: string | undefined;
  /** Why the last request failed; undefined if it did not. */
  trouble: Error | undefined;
  readonly #sender: Sender;
  readonly #deps: ServerDeps;
  readonly #timing: Timing;
  readonly trial: Trial;
  #sending: Promise<void> | undefined;
  #isWanted = false;
  #postedAt = 0;
  /** Since when, and until when, it takes no run at all. */
  #hold: Hold | undefined;
  readonly #putting = new Map<AssignedRun, Promise<void>>();

  constructor(sender: Sender, deps: ServerDeps, timing: Timing) {
    [this.#sender, this.#deps, this.#timing] = [sender, deps, timing];
    this.trial = new Trial(sender.backend);
  }

  /** Why no run can pass until a person changes something; undefined if one may. */
  get blockedBy(): string | undefined {
    const { why, reason, sinceMs = 0, untilMs = 0 } = this.#hold ?? {};
    const now = performance.now();
    const isLong = why === 'blocked' || (why === 'starting' && now - sinceMs >= this.#timing.startingMs);
    // A run that is tried then says how it is now.
    return isLong && now < untilMs + HELD_MORE_MS ? reason : undefined;
  }

  /** Whether it does not take what it was sent. */
  get isHeld(): boolean {
    const sinceMs = this.posting === undefined ? 0 : performance.now() - this.#postedAt;
    return this.trouble !== undefined || sinceMs > this.#timing.pollWithSocketMs;
  }

  /** Whether nothing of this run is at the server, or under way. */
  isUnsent = (one: AssignedRun): boolean =>
    one.phase === 'placed' && !one.mustLook && this.posting !== one.run.id && !this.#putting.has(one);

  /** Sends what is there, and what comes meanwhile. */
  start(): void {
    this.#isWanted = true;
    this.#sending ??= this.#sendAll();
  }

  /** Fulfilled when no request is under way; a server that is closed sends no more. */
  sent = async (): Promise<void> => this.#sending;

  ended = async (): Promise<void> => void (await Promise.all([this.#sending, ...this.#putting.values()]));

  async #sendAll(): Promise<void> {
    try {
      while (this.#isWanted && !this.#sender.isClosed()) {
        this.#isWanted = false;
        await this.#send();
      }
      this.trouble = undefined;
    } catch (error) {
      this.trouble = error as Error;
    } finally {
      [this.#sending, this.posting] = [undefined, undefined];
    }
  }

  async #send(): Promise<void> {
    const { runs } = this.#sender;
    for (const one of runs.values()) {
      if (this.#sender.isClosed() || (this.#hold?.untilMs ?? 0) > performance.now()) return;
      if (one.phase !== 'placed' || one.notBefore > performance.now()) continue;
      if (one.mustLook && !(await this.#maySend(one))) continue;
      const files = this.#filesOf(one);
      if (files !== undefined && runs.get(one.run.id) === one && one.phase === 'placed')
        await this.#sendOne(one, files);
    }
  }

  /** undefined until they are there: others are sent meanwhile. */
  #filesOf(one: AssignedRun): ReadonlyMap<string, PutFile> | undefined {
    if (!one.workflow.inputs.some(({ fields }) => fields.some(({ isFile }) => isFile))) return NO_FILES;
    const { files } = one;
    if (files === undefined && !this.#putting.has(one) && this.#putting.size < PUTTING_MOST) {
      const ended = (work: () => void): void => {
        this.#putting.delete(one);
        if (this.#sender.isClosed()) return;
        work();
        this.start();
      };
      const put = this.#deps.put(one, this.#sender.backend).then(
        (found) => ended(() => (one.files = found)),
        (error: unknown) => ended(() => this.#notPut(one, error)),
      );
      // It only throws when the service cannot write any more, and has said so.
      const done = put.catch(() => undefined);
      this.#putting.set(one, done);
    }
    // Another try puts them there again.
    one.files = undefined;
    return files;
  }

  /** The run waits, or another server gets it, and this one goes on with others. */
  #notPut(one: AssignedRun, error: unknown): void {
    const { runs, name } = this.#sender;
    if (runs.get(one.run.id) !== one) return;
    const reason = errorMessage(error);
    if (!(error instanceof Unreachable)) return this.#sender.ends.failed(one, reason);
    if (error instanceof Blocked)
      return this.#isBusy(one, { kind: 'busy', why: 'blocked', reason, afterMs: this.#timing.blockedMs });
    const why = `its files cannot be put on ${name}: ${reason}`;
    const notPutAt = [...(one.state.notPutAt ?? []), name];
    const { length: failures } = notPutAt;
    if (failures >= ATTEMPTS_MOST) return this.#sender.ends.failed(one, `${why} (${failures} attempts)`);
    this.#sender.keep(one, { ...one.state, notPutAt });
    one.work = { ...NO_WORK, liveStatus: why };
    one.notBefore = performance.now() + waitMsAfter(failures, this.#timing.pollMs);
    if (!one.mustLook && this.#deps.handBack(one, why)) runs.delete(one.run.id);
  }

  /** It may be there already, or arrive late. */
  async #maySend(one: AssignedRun): Promise<boolean> {
    const seen = (await this.#sender.backend.poll([sentOf(one.run.id, one)])).get(one.run.id);
    if (seen === undefined || seen.at !== 'absent') {
      this.#sender.accepted(one, undefined, seen?.ref);
      return false;
    }
    one.absentSince ??= performance.now();
    return this.#isDue(one, undefined);
  }

  /** Whether a run of which the server did not say that it took it is sent again now; or it ends. */
  #isDue(one: AssignedRun, reason: string | undefined): boolean {
    const { absentSince, unclear, state } = one;
    const now = this.#deps.now();
    const next = afterLostAnswer(guaranteeFor(this.#sender.backend, one), {
      unclear,
      reason,
      absentForMs: absentSince === undefined ? undefined : performance.now() - absentSince,
      askedForMs: now - (state.askedMs ?? state.placedMs ?? now),
      lateMs: this.#timing.lateMs,
    });
    if (next.kind === 'end-unknown') this.#sender.ends.unknown(one, next.reason);
    if (next.kind === 'failed') this.#sender.ends.failed(one, `${this.#sender.name} ${next.reason}`);
    return next.kind === 'send';
  }

  async #sendOne(one: AssignedRun, files: ReadonlyMap<string, PutFile>): Promise<void> {
    const { backend, name, socket } = this.#sender;
    const graph = this.#deps.graphOf(one, files);
    const before = socket.connection();
    const sent = sentOf(one.run.id, one);
    this.#noteAsked(one, one.state.askedMs ?? this.#deps.now());
    // Not at its answer: the server may say before that it has begun.
    [this.posting, one.mustLook, one.work] = [one.run.id, true, NO_WORK];
    this.#postedAt = performance.now();
    const submitted = await backend.submit(sent, graph).catch((error: unknown) => {
      this.#notAsked(one, sent);
      throw error;
    });
    [this.posting, one.absentSince] = [undefined, undefined];
    // After this answer has changed what is known of the server.
    setImmediate(() => this.trial.end());
    switch (submitted.kind) {
      case 'accepted':
        this.#hold = undefined;
        if (sent.isRepeated)
          one.state = withLine(one.state, 'info', `${name} ${FORGOT}: it is sent again`, this.#deps.now());
        return this.#sender.accepted(one, before, submitted.ref);
      case 'refused':
        this.#hold = undefined;
        return this.#sender.ends.failed(one, `failed validation: ${submitted.reason}`);
      case 'busy':
        this.#notAsked(one, sent);
        return this.#isBusy(one, submitted);
      case 'spent':
        return this.#isSpent(one, submitted);
      case 'unclear':
        one.unclear += 1;
        this.#isDue(one, submitted.reason);
        if (this.#sender.runs.get(one.run.id) === one) throw new Unreachable(submitted.reason);
        return undefined;
    }
  }

  #isBusy(one: AssignedRun, { afterMs, why, reason }: Extract<Submitted, { kind: 'busy' }>): void {
    const { name, seats, load } = this.#sender;
    one.notBefore = performance.now() + afterMs;
    one.work = { ...NO_WORK, liveStatus: `${name} takes no runs: ${reason}` };
    if (why === undefined) return;
    const sinceMs = this.#hold?.why === why ? this.#hold.sinceMs : performance.now();
    this.#hold = { why, reason: `${name} takes no runs: ${reason}`, sinceMs, untilMs: one.notBefore };
    if (why === 'full') seats.full(load - 1);
  }

  #isSpent(one: AssignedRun, { reason, isAbsent }: Extract<Submitted, { kind: 'spent' }>): void {
    const { name, backend } = this.#sender;
    one.work = { ...NO_WORK, liveStatus: `${name} ${reason}` };
    const next = afterSpent(guaranteeFor(backend, one), {
      isAbsent: isAbsent === true,
      unknownForMs: this.#sender.unknownForMs(one),
      ...this.#timing,
    });
    if (next === 'end-unknown') this.#sender.ends.unknown(one, reason);
    if (next === 'send-anew')
      this.#sender.sendAnew(one, 'has no job of this run, and its key is used up: it is sent anew');
  }

  /** Surely nothing arrived of this request. */
  #notAsked(one: AssignedRun, { isRepeated }: Sent): void {
    one.mustLook = isRepeated;
    if (!isRepeated) this.#noteAsked(one, undefined);
  }

  /** Stored before it is sent where nothing but this note says whether it may be sent. */
  #noteAsked(one: AssignedRun, askedMs: number | undefined): void {
    const { askedMs: before, ...state } = one.state;
    if (before === askedMs) return;
    one.state = { ...state, ...(askedMs !== undefined && { askedMs }) };
    if (this.#sender.backend.guarantee.lost === 'told-or-unknown')
      this.#deps.commit(() => this.#deps.keep(one));
  }
}
