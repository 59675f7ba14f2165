// What a webhook leads to. A webhook is a hint (D5): the run is read with Get Run, and only what that says is signalled to the
// batch's workflow.
//
//   not ended: kept for some seconds; unless the end comes meanwhile, the batch learns which run the attempt became
//   ended:     signalled immediately, together with the other ends of that moment; answered when Temporal has it

import type { Logger } from 'pino';
import type { AttemptRun } from '../batch/attempt.ts';
import type { RunCompletion } from '../batch/events.ts';
import { errorMessage } from '../errors/error.ts';
import type { Run } from '../run-service/contract/run.ts';
import { outcomeOf } from '../run-service/run-outcome.ts';
import type { Delivered } from '../batch/signals.ts';
import type { BatchName } from '../batch/batch-ref.ts';
import { ReportedRuns } from './reported-runs.ts';
import { isSameAttempt, readToken, type Token } from './token.ts';

export type HandlerDeps = {
  /** Reads a run of that batch; undefined where the service does not know it. */
  getRun(batch: BatchName, runId: string): Promise<Run | undefined>;
  runEnded(batch: BatchName, completion: RunCompletion): Promise<Delivered>;
  runSeen(batch: BatchName, run: AttemptRun): Promise<Delivered>;
  /** Runs whose end this worker has signalled. */
  readonly reported: Pick<ReportedRuns, 'has' | 'add'>;
  readonly log: Logger;
};

/** What a webhook says. */
export type Hint = { readonly runId: string; readonly status: string };

const SEEN_AFTER_MS = 5_000;
const WAITING_MOST = 20_000;

export class WebhookHandler {
  readonly #deps: HandlerDeps;
  /** Runs that did not end yet and that the batch may not know. */
  readonly #waiting = new Map<string, NodeJS.Timeout>();
  readonly #seen = new ReportedRuns();

  constructor(deps: HandlerDeps) {
    this.#deps = deps;
  }

  /** Resolves when Temporal has what the webhook led to. Throws what the service or Temporal throws. */
  async handle(token: Token, hint: Hint): Promise<void> {
    const { reported, runEnded } = this.#deps;
    if (reported.has(hint.runId)) return;
    const run = mayHaveEnded(hint) ? await this.#readOwn(token, hint) : undefined;
    if (run === 'missing') {
      this.#see(token, hint);
      throw new Error(`the service does not show run ${hint.runId} yet`);
    }
    const state = run && outcomeOf(run);
    if (state?.kind !== 'ended') return this.#see(token, hint);
    this.#forget(hint.runId);
    const { row, attempt } = token;
    const { outcome, reason } = state;
    await runEnded(token, {
      row,
      attempt,
      runId: hint.runId,
      outcome,
      ...(reason === undefined ? {} : { reason }),
    });
    reported.add(hint.runId);
  }

  close(): void {
    for (const runId of this.#waiting.keys()) this.#forget(runId);
  }

  #forget(runId: string): void {
    clearTimeout(this.#waiting.get(runId));
    this.#waiting.delete(runId);
  }

  #see(token: Token, hint: Hint): void {
    const { runId } = hint;
    if (this.#waiting.has(runId) || this.#waiting.size >= WAITING_MOST || this.#seen.has(runId)) return;
    const timer = setTimeout(() => void this.#signalSeen(token, hint), SEEN_AFTER_MS).unref();
    this.#waiting.set(runId, timer);
  }

  async #signalSeen(token: Token, hint: Hint): Promise<void> {
    const { batch, row, attempt } = token;
    this.#waiting.delete(hint.runId);
    try {
      const run = await this.#readOwn(token, hint);
      if (run !== undefined && run !== 'missing')
        await this.#deps.runSeen(token, { row, attempt, runId: run.id });
      this.#seen.add(hint.runId);
    } catch (error) {
      const reason = errorMessage(error);
      this.#deps.log.warn(
        { batch, row, reason },
        'a run could not be signalled; its next webhook tries again',
      );
    }
  }

  /** R7: the run, if its own webhook address names this attempt. */
  async #readOwn(token: Token, { runId }: Hint): Promise<Run | 'missing' | undefined> {
    const run = await this.#deps.getRun(token, runId);
    if (run === undefined) return 'missing';
    if (run.id === runId && isSameAttempt(readToken(run.webhook), token)) return run;
    const { batch, row, attempt } = token;
    this.#deps.log.warn({ batch, row, attempt, run: runId }, 'a webhook named a run of another attempt');
    return undefined;
  }
}

/** A status that certainly does not end a run spares a Get Run. */
const mayHaveEnded = ({ status }: Hint): boolean =>
  !['not-started', 'queued', 'started', 'running', 'uploading'].includes(status);
