// The run service of the small world: which attempts were posted, and the truth about every run.

import { attemptKey, type AttemptRef, type AttemptRun } from '../../src/batch/attempt.ts';
import type { PostResult, RunCompletion } from '../../src/batch/events.ts';

/** How one POST goes. `lost` and `dropped` look alike to the sender; `made-and-throttled` is a lie of the service. */
export type PlannedResult =
  | 'accepted'
  | 'rejected'
  | 'not-sent'
  | 'throttled'
  | 'blocked'
  | 'lost'
  | 'dropped'
  | 'made-and-throttled';

export type End = 'succeeded' | 'failed' | 'timed-out' | 'cancelled';

export type Run = AttemptRun & {
  status: 'open' | End;
  /** A run that the batch did not ask for, or that it could not know of. */
  isExtra: boolean;
};

const MAY_FOLLOW: ReadonlySet<PlannedResult | undefined> = new Set([
  undefined,
  'not-sent',
  'throttled',
  'blocked',
  'made-and-throttled',
]);

export class Service {
  readonly runs: Run[] = [];
  /** The last POST of each attempt. */
  readonly posted = new Map<string, PlannedResult>();
  /** Attempts that were posted again although their earlier POST may have started a run. */
  readonly repeated: string[] = [];

  post(attempt: AttemptRef, fate: PlannedResult): PostResult {
    const key = attemptKey(attempt);
    const before = this.posted.get(key);
    if (!MAY_FOLLOW.has(before)) this.repeated.push(`${key} was posted again after ${before}`);
    this.posted.set(key, fate);
    const runId = `run-${this.runs.length}`;
    const isMade = fate === 'accepted' || fate === 'lost' || fate === 'made-and-throttled';
    if (isMade) this.runs.push({ ...attempt, runId, status: 'open', isExtra: fate === 'made-and-throttled' });
    if (fate === 'accepted') return { ...attempt, result: 'accepted', runId };
    if (fate === 'lost' || fate === 'dropped')
      return { ...attempt, result: 'unconfirmed', reason: 'no answer' };
    const result = fate === 'made-and-throttled' ? 'throttled' : fate;
    return { ...attempt, result, reason: fate, ...(result === 'throttled' ? { retryAfterMs: 50 } : {}) };
  }

  /** Makes a second run for the attempt of another one. */
  duplicate({ row, attempt }: AttemptRef): Run {
    const run: Run = { row, attempt, runId: `run-${this.runs.length}`, status: 'open', isExtra: true };
    this.runs.push(run);
    return run;
  }

  find(runId: string): Run | undefined {
    return this.runs.find((run) => run.runId === runId);
  }

  /** The end of a run, as Get Run confirms it. */
  completionOf({ row, attempt, runId, status }: Run): RunCompletion | undefined {
    return status === 'open' ? undefined : { row, attempt, runId, outcome: status };
  }
}
