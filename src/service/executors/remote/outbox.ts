// Sends the runs that a server has been given, one after another. The rounds of the server do not wait for it: a request without an answer must not keep
// the others from being looked at or cancelled.

import { errorMessage } from '../../../errors/error.ts';
import { NO_WORK } from '../executor.ts';
import { sentOf, withLine, type AssignedRun } from './assigned-run.ts';
import { Unreachable, type Backend, type Graph } from './backend.ts';
import type { Desk, Timing } from './desk.ts';

type Sender = {
  readonly name: string;
  readonly backend: Backend;
  readonly runs: ReadonlyMap<string, AssignedRun>;
  readonly desk: Desk;
  readonly timing: Timing;
  /** The connection of the socket; undefined if there is none. */
  readonly connection: () => number | undefined;
  readonly accepted: (one: AssignedRun, connection: number | undefined, ref: string | undefined) => void;
  readonly refused: (one: AssignedRun, reason: string) => void;
  readonly doubtful: (one: AssignedRun, reason: string) => void;
};

/** So often a request may fail without a sign of the run: then it is the request that the server cannot bear. */
const UNCLEAR_MOST = 10;
const FORGOT = 'does not show this run, which it may have been given already';

export class Outbox {
  /** The run whose request has no answer yet. */
  posting: string | undefined;
  /** Why the last request failed; undefined if it did not. */
  trouble: Error | undefined;
  /** Until then, it takes no runs, because its account has no credits. */
  unpaidUntil = 0;
  readonly #sender: Sender;
  #sending: Promise<void> | undefined;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /** Sends what is there, and what comes meanwhile. */
  start(): void {
    this.#sending ??= this.#send()
      .then(
        () => (this.trouble = undefined),
        (error: Error) => (this.trouble = error),
      )
      .then(() => {
        this.#sending = undefined;
        this.posting = undefined;
      });
  }

  ended = (): Promise<void> => this.#sending ?? Promise.resolve();

  async #send(): Promise<void> {
    const { runs } = this.#sender;
    for (const one of runs.values()) {
      if (one.phase !== 'placed' || one.notBefore > performance.now()) continue;
      if (one.mustLook && (await this.#isThere(one))) continue;
      if (runs.get(one.run.id) === one) await this.#sendOne(one);
    }
  }

  /** Or may still arrive. */
  async #isThere(one: AssignedRun): Promise<boolean> {
    const seen = (await this.#sender.backend.look([sentOf(one.run.id, one)])).get(one.run.id);
    if (seen === undefined || seen.at !== 'absent') {
      this.#sender.accepted(one, undefined, seen?.ref);
      return true;
    }
    one.absentSince ??= performance.now();
    return performance.now() - one.absentSince < this.#sender.timing.lateMs;
  }

  async #sendOne(one: AssignedRun): Promise<void> {
    const { backend, desk, name, connection, accepted, refused, doubtful, timing } = this.#sender;
    let graph: Graph;
    try {
      graph = await desk.graphOf(one, backend);
    } catch (error) {
      if (error instanceof Unreachable) throw error;
      return refused(one, errorMessage(error));
    }
    if (this.#sender.runs.get(one.run.id) !== one) return undefined;
    const before = connection();
    const sent = sentOf(one.run.id, one);
    // Not at its answer: the server may say before that it has begun.
    [this.posting, one.mustLook, one.work] = [one.run.id, true, NO_WORK];
    const submitted = await backend.submit(sent, graph).catch((error: unknown) => {
      one.mustLook = sent.isRepeated;
      throw error;
    });
    [this.posting, one.absentSince] = [undefined, undefined];
    switch (submitted.kind) {
      case 'accepted':
        this.unpaidUntil = 0;
        if (sent.isRepeated)
          one.state = withLine(one.state, 'info', `${name} ${FORGOT}: it is sent again`, desk.now());
        return accepted(one, before, submitted.ref);
      case 'refused':
        return refused(one, `failed validation: ${submitted.reason}`);
      case 'busy':
        one.mustLook = sent.isRepeated;
        one.notBefore = performance.now() + submitted.afterMs;
        if (submitted.isUnpaid === true) this.unpaidUntil = one.notBefore;
        one.work = { ...NO_WORK, liveStatus: `${name} takes no runs: ${submitted.reason}` };
        return undefined;
      case 'spent':
        one.spentSince ??= performance.now();
        one.work = { ...NO_WORK, liveStatus: `${name} ${submitted.reason}` };
        if (performance.now() - one.spentSince < timing.spentMs) return undefined;
        return doubtful(one, submitted.reason);
      case 'unclear':
        one.unclear += 1;
        // It was looked for each time, and was never there, if that can be seen.
        if (one.unclear >= UNCLEAR_MOST)
          return backend.isShop === true
            ? doubtful(one, `does not say whether it took this run: ${submitted.reason}`)
            : refused(one, `${name} never took it: ${submitted.reason}`);
        throw new Unreachable(submitted.reason);
    }
  }
}
