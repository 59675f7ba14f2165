// Simulates the run service: it records every POST and every run.

import { attemptKey, type AttemptRef, type AttemptRun } from '../../src/batch/outcome.ts';
import type { PostResult, RunCompletion } from '../../src/batch/events.ts';

/**
 * The planned result of one POST. `lost` (a run was made) and `dropped` (no run) look the same to the sender;
 * `made-and-throttled` responds 429 although it made a run.
 */
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

export type ServiceRun = AttemptRun & {
  status: 'open' | End;
  /** A run that the batch did not request or cannot know about. */
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
  readonly runs: ServiceRun[] = [];
  /** The last POST of each attempt. */
  readonly posted = new Map<string, PlannedResult>();
  /** Attempts that the batch wrongly posted again: their earlier POST may have started a run. */
  readonly repeated: string[] = [];

  post(attempt: AttemptRef, planned: PlannedResult): PostResult {
    const key = attemptKey(attempt);
    const before = this.posted.get(key);
    if (!MAY_FOLLOW.has(before)) this.repeated.push(`${key} was posted again after ${before}`);
    this.posted.set(key, planned);
    const runId = `run-${this.runs.length}`;
    const isMade = planned === 'accepted' || planned === 'lost' || planned === 'made-and-throttled';
    if (isMade)
      this.runs.push({ ...attempt, runId, status: 'open', isExtra: planned === 'made-and-throttled' });
    if (planned === 'accepted') return { ...attempt, result: 'accepted', runId };
    if (planned === 'lost' || planned === 'dropped')
      return { ...attempt, result: 'unconfirmed', reason: 'no answer' };
    const result = planned === 'made-and-throttled' ? 'throttled' : planned;
    return { ...attempt, result, reason: planned, ...(result === 'throttled' ? { retryAfterMs: 50 } : {}) };
  }

  /** Makes a second run for an attempt. */
  duplicate({ place, attempt }: AttemptRef): ServiceRun {
    const run: ServiceRun = {
      place,
      attempt,
      runId: `run-${this.runs.length}`,
      status: 'open',
      isExtra: true,
    };
    this.runs.push(run);
    return run;
  }

  find(runId: string): ServiceRun | undefined {
    return this.runs.find((run) => run.runId === runId);
  }

  /** The completion of a run, as Get Run returns it. */
  completionOf({ place, attempt, runId, status }: ServiceRun): RunCompletion | undefined {
    if (status === 'open') return undefined;
    return { place, attempt, runId, outcome: status, ...timesOf(Number(runId.slice(4))) };
  }
}

/** Some runs queue, some wait for a machine that starts, and of some the service shows no times. */
const timesOf = (number: number): Pick<RunCompletion, 'times'> =>
  number % 7 === 0 ? {} : { times: [(number % 5) * 300, number % 3 === 0 ? 200 : 0, 1_000] };
