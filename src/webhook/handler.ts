// Handles webhooks. A webhook is only a hint (R8): the handler reads the run with Get Run, and signals only the confirmed result
// to the batch's workflow.
//
//   not ended: after some seconds without an end, the batch gets a signal that names the attempt's run
//   ended:     signalled immediately, together with concurrent completions; answered when Temporal has accepted the signal

import type { Logger } from 'pino';
import type { AttemptRun } from '../batch/attempt.ts';
import type { RunCompletion } from '../batch/events.ts';
import { errorMessage } from '../errors/error.ts';
import { isOpen } from '../run-service/contract/statuses.ts';
import { outcomeOf, type KnownRun } from '../run-service/run-outcome.ts';
import type { Delivered } from '../batch/signals.ts';
import type { BatchName } from '../batch/batch-ref.ts';
import { ReportedRuns } from './reported-runs.ts';
import { isSameAttempt, readToken, type Token } from './token.ts';

export type HandlerDeps = {
  /** Reads a run of the batch; undefined if the service does not know it. */
  getRun(batch: BatchName, runId: string): Promise<KnownRun | undefined>;
  runEnded(batch: BatchName, completion: RunCompletion): Promise<Delivered>;
  runSeen(batch: BatchName, run: AttemptRun): Promise<Delivered>;
  /** Runs whose completion this worker has signalled. */
  readonly reported: Pick<ReportedRuns, 'has' | 'add'>;
  readonly log: Logger;
};

/** The content of a webhook. */
export type Hint = { readonly runId: string; readonly status: string };

const SEEN_AFTER_MS = 5_000;
const WAITING_MOST = 20_000;

export class WebhookHandler {
  readonly #deps: HandlerDeps;
  /** Runs that have not ended yet and that the batch may not know. */
  readonly #waiting = new Map<string, NodeJS.Timeout>();
  readonly #seen = new ReportedRuns();

  constructor(deps: HandlerDeps) {
    this.#deps = deps;
  }

  /** Resolves when Temporal has accepted the signal. Throws the errors of the service and of Temporal. */
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
    const { place, attempt } = token;
    const { kind: _, ...end } = state;
    await runEnded(token, { place, attempt, runId: hint.runId, ...end });
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
    const { batch, place, attempt } = token;
    this.#waiting.delete(hint.runId);
    try {
      const run = await this.#readOwn(token, hint);
      if (run !== undefined && run !== 'missing')
        await this.#deps.runSeen(token, { place, attempt, runId: run.id });
      this.#seen.add(hint.runId);
    } catch (error) {
      const reason = errorMessage(error);
      this.#deps.log.warn({ batch, place, reason }, 'a run could not be signalled; its next webhook retries');
    }
  }

  /** R7: returns the run if its own webhook address names this attempt. */
  async #readOwn(token: Token, { runId }: Hint): Promise<KnownRun | 'missing' | undefined> {
    const run = await this.#deps.getRun(token, runId);
    if (run === undefined) return 'missing';
    if (run.id === runId && isSameAttempt(readToken(run.webhook), token)) return run;
    const { batch, place, attempt } = token;
    this.#deps.log.warn({ batch, place, attempt, run: runId }, 'a webhook named a run of another attempt');
    return undefined;
  }
}

/** A status that certainly is not final needs no Get Run. */
const mayHaveEnded = ({ status }: Hint): boolean => !isOpen(status);
