// Handles webhooks. A webhook is only a hint (R8): the handler reads the run with Get Run, and signals only the confirmed result
// to the batch's workflow.
//
//   not ended: after some seconds without an end, the batch gets a signal that names the attempt's run, unless this worker has
//              started the run and Temporal knows that
//   ended:     signalled immediately, together with concurrent completions; answered when Temporal has accepted the signal.
//              While runs of the batch wait for a machine, an end may wait for others; its webhook is answered within a second,
//              and if this process is lost before the signal, a poll finds the end

import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { AttemptRun } from '../batch/outcome.ts';
import type { RunCompletion, Delivered } from '../batch/events.ts';
import { errorMessage } from '../errors/error.ts';
import { hasMachine, isOpen } from '../service-client/contract/statuses.ts';
import { outcomeOf, type KnownRun } from '../service-client/run-outcome.ts';
import type { BatchName } from '../batch/workflow-ids.ts';
import type { OwnRuns } from './own-runs.ts';
import { ReportedRuns } from './reported-runs.ts';
import { isSameAttempt, readToken, type Token } from './webhook-token.ts';

export type HandlerDeps = {
  /** Reads a run of the batch; undefined if the service does not know it. */
  getRun(batch: BatchName, runId: string): Promise<KnownRun | undefined>;
  /** `holdMs`: how long it may wait for other ends. */
  runEnded(batch: BatchName, completion: RunCompletion, holdMs: number): Promise<Delivered>;
  runSeen(batch: BatchName, run: AttemptRun): Promise<Delivered>;
  readonly reported: ReportedRuns;
  readonly ownRuns: Pick<OwnRuns, 'started' | 'ended' | 'isTaken' | 'holdMs'>;
  readonly log: Logger;
};

export type Hint = { readonly runId: string; readonly status: string };

const SEEN_AFTER_MS = 5_000;
const MAX_WAITING = 20_000;

/** The time after which services give up on a webhook without an answer. */
const ANSWER_WITHIN_MS = 900;

export class WebhookHandler {
  readonly #deps: HandlerDeps;
  /** Runs that have not ended yet and that the batch may not know. */
  readonly #waiting = new Map<string, NodeJS.Timeout>();
  readonly #seen = new ReportedRuns();
  /** Ends whose webhooks were answered before Temporal accepted them. */
  readonly #delivering = new Set<Promise<void>>();

  constructor(deps: HandlerDeps) {
    this.#deps = deps;
  }

  /** Resolves when Temporal has accepted the signal. Throws the errors of the service and of Temporal. */
  async handle(token: Token, hint: Hint): Promise<void> {
    const { reported, ownRuns } = this.#deps;
    if (reported.has(hint.runId) || reported.held.has(hint.runId)) return;
    if (hasMachine(hint.status)) ownRuns.started(token, hint.runId);
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
    ownRuns.ended(token, hint.runId);
    await this.#deliver(token, { place, attempt, runId: hint.runId, ...end });
  }

  /** Resolves when Temporal has accepted the signal; if the end is held, within a second. */
  async #deliver(batch: BatchName, completion: RunCompletion): Promise<void> {
    const { reported, ownRuns, runEnded, log } = this.#deps;
    const { runId } = completion;
    const holdMs = ownRuns.holdMs(batch, completion);
    const signalled = runEnded(batch, completion, holdMs).then(() => reported.add(runId));
    if (holdMs === 0) return signalled;
    reported.held.add(runId);
    const delivering = signalled
      .catch((error: unknown) =>
        log.warn(
          { runId, reason: errorMessage(error) },
          'an end that waited could not be reported; a poll finds it, unless its batch has ended',
        ),
      )
      .finally(() => {
        reported.held.delete(runId);
        this.#delivering.delete(delivering);
      });
    this.#delivering.add(delivering);
    await Promise.race([signalled, wait(ANSWER_WITHIN_MS, undefined, { ref: false })]);
  }

  /** Resolves when Temporal, or the store of an ended batch, has everything that answered webhooks reported. */
  async close(): Promise<void> {
    for (const runId of this.#waiting.keys()) this.#forget(runId);
    await Promise.all(this.#delivering);
  }

  #forget(runId: string): void {
    clearTimeout(this.#waiting.get(runId));
    this.#waiting.delete(runId);
  }

  #see(token: Token, hint: Hint): void {
    const { runId } = hint;
    if (this.#waiting.has(runId) || this.#waiting.size >= MAX_WAITING || this.#seen.has(runId)) return;
    const timer = setTimeout(() => void this.#signalSeen(token, hint), SEEN_AFTER_MS).unref();
    this.#waiting.set(runId, timer);
  }

  async #signalSeen(token: Token, hint: Hint): Promise<void> {
    const { batch, place, attempt } = token;
    this.#waiting.delete(hint.runId);
    if (this.#deps.ownRuns.isTaken(hint.runId)) return;
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
