// How the runs of a server end:
//
//      sent ──succeeded──▶ storing ──files are kept──▶ success
//      any ──failed, cancelled there, time limit──▶ ended
//      sent ──nothing can tell──▶ its end is unknown, for good

import { errorMessage } from '../../../errors/error.ts';
import { withLine, type AssignedRun, type RunState } from './assigned-run.ts';
import type { Backend, Made } from './backend.ts';
import { storedOutputs } from './kept-files.ts';
import type { ServerDeps, Timing } from './server-deps.ts';
import type { UsualTimes } from './usual-times.ts';

/** The server, as its ends see it. */
type Ending = {
  readonly name: string;
  readonly backend: Backend;
  readonly away: unknown;
  readonly runs: Map<string, AssignedRun>;
  readonly usual: UsualTimes;
  readonly isClosed: () => boolean;
  keep(one: AssignedRun, state: RunState): void;
  /** A seat may be free. */
  freed(): void;
};

export class RunEnds {
  readonly #server: Ending;
  readonly #deps: ServerDeps;
  readonly #timing: Timing;

  constructor(server: Ending, deps: ServerDeps, timing: Timing) {
    [this.#server, this.#deps, this.#timing] = [server, deps, timing];
  }

  made(one: AssignedRun, outputs: readonly Made[], ranMs: number | undefined): void {
    one.phase = 'storing';
    const made = { outputs, ...(ranMs !== undefined && { ranMs }), atMs: this.#deps.now() };
    this.#server.keep(one, { ...one.state, made });
    this.store(one);
    this.#server.freed();
  }

  /** It only throws when the service cannot write any more, and has said so. */
  store = (one: AssignedRun): void => void this.#store(one).catch(() => undefined);

  /** Files are kept before the run has succeeded. */
  async #store(one: AssignedRun): Promise<void> {
    const { made } = one.state;
    if (made === undefined) return;
    const goesOn = (): boolean => !this.#server.isClosed() && this.#isHere(one);
    const stored = await storedOutputs(one, this.#server, this.#deps, {
      goesOn,
      everyMs: this.#timing.pollMs,
    });
    if (stored === undefined) return;
    if (stored instanceof Error) return this.failed(one, errorMessage(stored), made.ranMs);
    const { made: _, ...state } = one.state;
    one.state = { ...state, outputs: stored };
    this.#deps.commitSoon(() => this.#finish(one, 'success', undefined, made));
  }

  failed(one: AssignedRun, reason: string, ranMs?: number): void {
    this.#finish(one, 'failed', reason, { ranMs });
  }

  /** Somebody else has ended it at its server. */
  cancelled(one: AssignedRun, reason: string, ranMs?: number): void {
    this.#finish(one, 'cancelled', reason, { ranMs });
  }

  timedOut(one: AssignedRun): void {
    this.#finish(one, 'timeout', 'the time limit of the run was reached', {});
  }

  /** It may have been executed, and no request can tell. */
  unknown(one: AssignedRun, reason: string): void {
    if (!this.#isHere(one)) return;
    const text = `${this.#server.name} ${reason}: it is not sent again`;
    one.state = withLine(one.state, 'error', text, this.#deps.now());
    this.#server.runs.delete(one.run.id);
    this.#deps.commit(() => this.#deps.endUnknown(one));
    this.#server.freed();
  }

  #finish(
    one: AssignedRun,
    status: 'success' | 'failed' | 'cancelled' | 'timeout',
    reason: string | undefined,
    { ranMs, atMs = this.#deps.now() }: { readonly ranMs?: number | undefined; readonly atMs?: number },
  ): void {
    if (!this.#isHere(one)) return;
    const level = status === 'failed' ? 'error' : 'info';
    if (reason !== undefined) one.state = withLine(one.state, level, reason, atMs);
    this.#server.runs.delete(one.run.id);
    const { startedMs = atMs, placedMs = 0 } = one.state;
    // Trust the duration that the server measured, but never start before the run was placed there.
    const began = Math.min(atMs, ranMs === undefined ? startedMs : Math.max(placedMs, atMs - ranMs));
    if (status === 'success' && ranMs !== undefined) this.#server.usual.ran(atMs - began);
    const work = status === 'success' ? { liveStatus: null, progress: 1, sinceMs: atMs } : one.work;
    this.#deps.commit(() => {
      this.#deps.keep(one);
      this.#deps.ended(one, { status, atMs, work }, one.state.isSent ? began : undefined);
      // In the same transaction: the next run gets its place.
      this.#server.freed();
    });
  }

  /** Not cancelled meanwhile. */
  #isHere = (one: AssignedRun): boolean => this.#server.runs.get(one.run.id) === one;
}
