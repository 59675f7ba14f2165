// Sends the runs of a server one after another, outside of the server's rounds: a request without an answer
// must not keep the other runs from being polled or cancelled.

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
} from '../backend.ts';
import type { ServerDeps, Timing } from './server-deps.ts';
import { NO_FILES } from '../workflow/filled-workflow.ts';
import { afterLostAnswer, afterSpent, guaranteeFor, isNotedFirst } from './resend-policy.ts';
import type { RunEnds } from './run-ends.ts';
import type { SeatCount } from '../queueing/seats.ts';
import { MAX_ATTEMPTS, waitMsAfter } from './kept-files.ts';
import { isGraph, takesFiles } from '../task.ts';
import { Trial } from '../queueing/first-run-trial.ts';

export type Sender = {
  readonly name: string;
  readonly backend: Backend;
  readonly runs: Map<string, AssignedRun>;
  readonly seats: SeatCount;
  readonly ends: RunEnds;
  readonly load: number;
  readonly isClosed: () => boolean;
  readonly socket: {
    /** The open connection; undefined if there is none. */
    readonly connection: () => number | undefined;
  };
  accepted(one: AssignedRun, connection: number | undefined, ref: string | undefined): void;
  sendAnew(one: AssignedRun, reason: string): void;
  keep(one: AssignedRun, state: RunState): void;
  unknownForMs(one: AssignedRun): number;
};

type SeatHold = {
  readonly why: BusyWhy;
  readonly reason: string;
  readonly sinceMs: number;
  readonly untilMs: number;
};

/** Extends a hold by the monotonic clock, because no run may be waiting that could be tried when the hold ends. */
const HELD_MORE_MS = 30_000;
const FORGOT = 'does not show this run, which it may have been given already';
/** For how many runs files are uploaded to a server at the same time. */
const MAX_PUTTING = 2;

export class Outbox {
  /** The run whose request has no answer yet. */
  posting: string | undefined;
  /** Why the last request failed; undefined if it succeeded. */
  trouble: Error | undefined;
  readonly #sender: Sender;
  readonly #deps: ServerDeps;
  readonly #timing: Timing;
  readonly trial: Trial;
  #sending: Promise<void> | undefined;
  #isWanted = false;
  #postedAt = 0;
  /** Since when, and until when, the server takes no runs at all. */
  #hold: SeatHold | undefined;
  readonly #putting = new Map<AssignedRun, Promise<void>>();

  constructor(sender: Sender, deps: ServerDeps, timing: Timing) {
    [this.#sender, this.#deps, this.#timing] = [sender, deps, timing];
    this.trial = new Trial(sender.backend);
  }

  /** Why no run can execute until a person changes something; undefined if some run may. */
  get blockedBy(): string | undefined {
    const { why, reason, sinceMs = 0, untilMs = 0 } = this.#hold ?? {};
    const now = performance.now();
    const isLong = why === 'blocked' || (why === 'starting' && now - sinceMs >= this.#timing.startingMs);
    // Until then, a run that is tried shows how the server is now.
    return isLong && now < untilMs + HELD_MORE_MS ? reason : undefined;
  }

  /** Whether the server refuses or does not answer requests. */
  get isHeld(): boolean {
    const sinceMs = this.posting === undefined ? 0 : performance.now() - this.#postedAt;
    return this.trouble !== undefined || sinceMs > this.#timing.pollWithSocketMs;
  }

  /** Whether nothing of this run is on the server or in flight. */
  isUnsent = (assigned: AssignedRun): boolean =>
    assigned.phase === 'placed' &&
    !assigned.mustLook &&
    this.posting !== assigned.run.id &&
    !this.#putting.has(assigned);

  /** Sends the waiting runs, and those that arrive meanwhile. */
  start(): void {
    this.#isWanted = true;
    this.#sending ??= this.#sendAll();
  }

  /** Resolves when no request is in flight. A closed server sends no more. */
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
    for (const assigned of runs.values()) {
      if (this.#sender.isClosed() || (this.#hold?.untilMs ?? 0) > performance.now()) return;
      if (assigned.phase !== 'placed' || assigned.notBefore > performance.now()) continue;
      if (assigned.mustLook && !(await this.#confirmAbsent(assigned))) continue;
      const files = this.#filesOf(assigned);
      if (files !== undefined && runs.get(assigned.run.id) === assigned && assigned.phase === 'placed')
        await this.#post(assigned, files);
    }
  }

  /** undefined until the files are uploaded; other runs are sent meanwhile. */
  #filesOf(assigned: AssignedRun): ReadonlyMap<string, PutFile> | undefined {
    if (!takesFiles(assigned.task)) return NO_FILES;
    const { files } = assigned;
    if (files === undefined && !this.#putting.has(assigned) && this.#putting.size < MAX_PUTTING) {
      const ended = (work: () => void): void => {
        this.#putting.delete(assigned);
        if (this.#sender.isClosed()) return;
        work();
        this.start();
      };
      const put = this.#deps.put(assigned, this.#sender.backend).then(
        (names) => ended(() => (assigned.files = names)),
        (error: unknown) => ended(() => this.#notPut(assigned, error)),
      );
      // A rejection means that the service cannot write any more, which it has reported.
      const done = put.catch(() => undefined);
      this.#putting.set(assigned, done);
    }
    // The next try uploads the files again.
    assigned.files = undefined;
    return files;
  }

  /** The run waits or moves to another server, and this server continues with others. */
  #notPut(assigned: AssignedRun, error: unknown): void {
    const { runs, name } = this.#sender;
    if (runs.get(assigned.run.id) !== assigned) return;
    const reason = errorMessage(error);
    if (!(error instanceof Unreachable)) return this.#sender.ends.failed(assigned, reason);
    if (error instanceof Blocked)
      return this.#holdBack(assigned, {
        kind: 'busy',
        why: 'blocked',
        reason,
        afterMs: this.#timing.blockedMs,
      });
    const why = `its files cannot be put on ${name}: ${reason}`;
    const notPutAt = [...(assigned.state.notPutAt ?? []), name];
    const { length: failures } = notPutAt;
    if (failures >= MAX_ATTEMPTS) return this.#sender.ends.failed(assigned, `${why} (${failures} attempts)`);
    this.#sender.keep(assigned, { ...assigned.state, notPutAt });
    assigned.work = { ...NO_WORK, liveStatus: why };
    assigned.notBefore = performance.now() + waitMsAfter(failures, this.#timing.pollMs);
    if (!assigned.mustLook && this.#deps.handBack(assigned, why)) runs.delete(assigned.run.id);
  }

  /** Looks for the run at its server; true if it may be sent, because it is not there and will not arrive late. */
  async #confirmAbsent(assigned: AssignedRun): Promise<boolean> {
    const sighting = (await this.#sender.backend.poll([sentOf(assigned.run.id, assigned)])).get(
      assigned.run.id,
    );
    if (sighting === undefined || sighting.at !== 'absent' || sighting.hasBegun === true) {
      this.#sender.accepted(assigned, undefined, sighting?.ref);
      return false;
    }
    assigned.absentSince ??= performance.now();
    return this.#settleUnconfirmed(assigned, undefined) === 'send';
  }

  /** Decides about a run that the server did not confirm: send it again now, wait, or end it. */
  #settleUnconfirmed(assigned: AssignedRun, reason: string | undefined): 'send' | 'not now' {
    const { absentSince, unclear, state } = assigned;
    const now = this.#deps.now();
    const next = afterLostAnswer(guaranteeFor(this.#sender.backend, assigned), {
      unclear,
      reason,
      absentForMs: absentSince === undefined ? undefined : performance.now() - absentSince,
      askedForMs: now - (state.askedMs ?? state.placedMs ?? now),
      lateMs: this.#timing.lateMs,
      settledMs: this.#timing.settledMs,
    });
    if (next.kind === 'end-unknown') this.#sender.ends.unknown(assigned, next.reason);
    if (next.kind === 'failed') this.#sender.ends.failed(assigned, `${this.#sender.name} ${next.reason}`);
    return next.kind === 'send' ? 'send' : 'not now';
  }

  async #post(assigned: AssignedRun, files: ReadonlyMap<string, PutFile>): Promise<void> {
    const { backend, name, socket } = this.#sender;
    const work = this.#deps.workOf(assigned, files);
    const before = socket.connection();
    const sent = sentOf(assigned.run.id, assigned);
    this.#noteAsked(assigned, assigned.state.askedMs ?? this.#deps.now());
    // Set before the answer, because the server may report the run's start earlier.
    [this.posting, assigned.mustLook, assigned.work] = [assigned.run.id, true, NO_WORK];
    this.#postedAt = performance.now();
    const submitted = await backend.submit(sent, work).catch((error: unknown) => {
      this.#notAsked(assigned, sent);
      throw error;
    });
    [this.posting, assigned.absentSince] = [undefined, undefined];
    // Runs after this answer has changed what is known of the server.
    setImmediate(() => this.trial.end());
    switch (submitted.kind) {
      case 'accepted':
        this.#hold = undefined;
        if (sent.isRepeated)
          assigned.state = withLine(
            assigned.state,
            'info',
            `${name} ${FORGOT}: it is sent again`,
            this.#deps.now(),
          );
        return this.#sender.accepted(assigned, before, submitted.ref);
      case 'refused':
        this.#hold = undefined;
        // A run that was never sent has cost nothing.
        assigned.mustLook = sent.isRepeated;
        return this.#sender.ends.failed(assigned, `failed validation: ${submitted.reason}`);
      case 'busy':
        this.#notAsked(assigned, sent);
        return this.#holdBack(assigned, submitted);
      case 'spent':
        return this.#settleSpent(assigned, submitted);
      case 'unclear':
        assigned.unclear += 1;
        this.#settleUnconfirmed(assigned, submitted.reason);
        if (this.#sender.runs.get(assigned.run.id) === assigned) throw new Unreachable(submitted.reason);
        return undefined;
    }
  }

  #holdBack(assigned: AssignedRun, { afterMs, why, reason }: Extract<Submitted, { kind: 'busy' }>): void {
    const { name, seats, load } = this.#sender;
    assigned.notBefore = performance.now() + afterMs;
    assigned.work = { ...NO_WORK, liveStatus: `${name} takes no runs: ${reason}` };
    if (why === undefined) return;
    const sinceMs = this.#hold?.why === why ? this.#hold.sinceMs : performance.now();
    this.#hold = { why, reason: `${name} takes no runs: ${reason}`, sinceMs, untilMs: assigned.notBefore };
    if (why === 'full') seats.full(load - 1);
  }

  #settleSpent(assigned: AssignedRun, { reason, isAbsent }: Extract<Submitted, { kind: 'spent' }>): void {
    const { name, backend } = this.#sender;
    assigned.work = { ...NO_WORK, liveStatus: `${name} ${reason}` };
    const next = afterSpent(guaranteeFor(backend, assigned), {
      isAbsent: isAbsent === true,
      unknownForMs: this.#sender.unknownForMs(assigned),
      ...this.#timing,
    });
    if (next === 'end-unknown') this.#sender.ends.unknown(assigned, reason);
    if (next === 'send-anew')
      this.#sender.sendAnew(assigned, 'has no job of this run, and its key is used up: it is sent anew');
  }

  /** The request certainly did not arrive. */
  #notAsked(assigned: AssignedRun, { isRepeated }: Sent): void {
    assigned.mustLook = isRepeated;
    if (!isRepeated) this.#noteAsked(assigned, undefined);
  }

  /** Stored before the request if only this note tells whether the run may be sent. */
  #noteAsked(assigned: AssignedRun, askedMs: number | undefined): void {
    const { askedMs: before, account: _, price: __, ...state } = assigned.state;
    if (before === askedMs) return;
    const { backend } = this.#sender;
    const [account, price] = [backend.account?.(), isGraph(assigned.task) ? undefined : assigned.task.price];
    const request = askedMs !== undefined && {
      askedMs,
      ...(account && { account }),
      ...(price && { price }),
    };
    assigned.state = { ...state, ...request };
    if (isNotedFirst(backend.guarantee) || account !== undefined)
      this.#deps.commit(() => this.#deps.keep(assigned));
  }
}
