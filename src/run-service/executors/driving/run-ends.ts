// How the runs of a server end:
//
//      sent ──succeeded──▶ storing ──files are kept──▶ success
//      any ──failed, cancelled there, time limit──▶ ended
//      sent ──nothing can tell──▶ its end is unknown, for good

import { errorMessage } from '../../../errors/error.ts';
import { withLine, type AssignedRun, type RunState } from './assigned-run.ts';
import { definedOnly } from '../../../options/defined-only.ts';
import type { Backend, MadeOutput, RunEnd } from '../backend.ts';
import { storedOutputs } from './kept-files.ts';
import { costNanoOf } from '../vendor-price.ts';
import type { ServerDeps, Timing } from './server-deps.ts';
import type { UsualTimes } from '../queueing/usual-times.ts';

/** The part of a server that its ends need. */
type EndingServer = {
  readonly name: string;
  readonly backend: Backend;
  readonly away: unknown;
  readonly runs: Map<string, AssignedRun>;
  readonly usual: UsualTimes;
  readonly isClosed: () => boolean;
  keep(one: AssignedRun, state: RunState): void;
  /** Called when a seat may be free. */
  freed(): void;
};

/** The facts about an ended run that its server tells. */
type ReportedEnd = Pick<RunEnd, 'costNano'> & { readonly ranMs?: number | undefined };

/** Only runs of models have a cost. */
const costIn = (
  { task, state: { price, isSent, outputs }, mustLook }: AssignedRun,
  reported: { readonly reportedNano: number | undefined; readonly ranMs: number | undefined },
): number | undefined =>
  task.kind === 'model'
    ? costNanoOf(price ?? task.price, {
        isSent: isSent || mustLook,
        files: outputs?.reduce((sum, { files }) => sum + files.length, 0),
        ...reported,
      })
    : undefined;

export class RunEnds {
  readonly #server: EndingServer;
  readonly #deps: ServerDeps;
  readonly #timing: Timing;

  constructor(server: EndingServer, deps: ServerDeps, timing: Timing) {
    [this.#server, this.#deps, this.#timing] = [server, deps, timing];
  }

  made(assigned: AssignedRun, outputs: readonly MadeOutput[], reported: ReportedEnd): void {
    assigned.phase = 'storing';
    const made = { outputs, ...definedOnly(reported), atMs: this.#deps.now() };
    this.#server.keep(assigned, { ...assigned.state, made });
    this.store(assigned);
    this.#server.freed();
  }

  /** A rejection means that the service cannot write any more, which it has reported. */
  store = (assigned: AssignedRun): void => void this.#store(assigned).catch(() => undefined);

  /** Keeps the files before the run counts as a success. */
  async #store(assigned: AssignedRun): Promise<void> {
    const { made } = assigned.state;
    if (made === undefined) return;
    const goesOn = (): boolean => !this.#server.isClosed() && this.#isHere(assigned);
    const stored = await storedOutputs(assigned, this.#server, this.#deps, {
      goesOn,
      everyMs: this.#timing.pollMs,
    });
    if (stored === undefined) return;
    if (stored instanceof Error) return this.failed(assigned, errorMessage(stored), made);
    const { made: _, ...state } = assigned.state;
    assigned.state = { ...state, outputs: stored };
    this.#deps.commitSoon(() => this.#finish(assigned, 'success', undefined, made));
  }

  failed(assigned: AssignedRun, reason: string, reported: ReportedEnd = {}): void {
    this.#finish(assigned, 'failed', reason, reported);
  }

  /** Somebody else ended the run at its server. */
  cancelled(assigned: AssignedRun, reason: string, reported: ReportedEnd = {}): void {
    this.#finish(assigned, 'cancelled', reason, reported);
  }

  timedOut(assigned: AssignedRun, reported: ReportedEnd = {}): void {
    this.#finish(assigned, 'timeout', 'the time limit of the run was reached', reported);
  }

  /** The run may have been executed, and no request can tell. */
  unknown(assigned: AssignedRun, reason: string): void {
    if (!this.#isHere(assigned)) return;
    const text = `${this.#server.name} ${reason}: it is not sent again`;
    assigned.state = withLine(assigned.state, 'error', text, this.#deps.now());
    this.#server.runs.delete(assigned.run.id);
    this.#deps.commit(() => this.#deps.endUnknown(assigned));
    this.#server.freed();
  }

  #finish(
    assigned: AssignedRun,
    status: 'success' | 'failed' | 'cancelled' | 'timeout',
    reason: string | undefined,
    { ranMs, costNano: reportedNano, atMs = this.#deps.now() }: ReportedEnd & { readonly atMs?: number },
  ): void {
    if (!this.#isHere(assigned)) return;
    const level = status === 'failed' ? 'error' : 'info';
    if (reason !== undefined) assigned.state = withLine(assigned.state, level, reason, atMs);
    this.#server.runs.delete(assigned.run.id);
    const costNano = costIn(assigned, { reportedNano, ranMs });
    assigned.state = { ...assigned.state, ...(costNano !== undefined && { costNano }) };
    const { startedMs = atMs, placedMs = 0 } = assigned.state;
    // Trust the duration that the server measured, but never start before the run was placed there.
    const began = Math.min(atMs, ranMs === undefined ? startedMs : Math.max(placedMs, atMs - ranMs));
    if (status === 'success' && ranMs !== undefined) this.#server.usual.ran(atMs - began);
    const work = status === 'success' ? { liveStatus: null, progress: 1, sinceMs: atMs } : assigned.work;
    this.#deps.commit(() => {
      this.#deps.keep(assigned);
      this.#deps.ended(assigned, { status, atMs, work }, assigned.state.isSent ? began : undefined);
      // A run at its time limit may still execute there, and is forgotten once its server has ended it.
      if (status !== 'timeout') setImmediate(() => this.#server.backend.forget?.(assigned.run.id));
      // Within the same transaction, the next run gets its place.
      this.#server.freed();
    });
  }

  /** False once the run was cancelled. */
  #isHere = (assigned: AssignedRun): boolean => this.#server.runs.get(assigned.run.id) === assigned;
}
