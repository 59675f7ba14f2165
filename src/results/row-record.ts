// The record of a row with an outcome. Its field names are the column names of results.csv.

import type { FailureKind } from '../options/facts/failure-kind.ts';
import type { Outcome, PastAttempt } from '../batch/outcome.ts';
import type { InputChange } from '../sheet/input-change.ts';

export type FileRecord = {
  /** Relative to the batch folder. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  /** The file name from the service. */
  readonly name: string;
  /** The node of the workflow that made it, and what its owner calls it. */
  readonly node?: string;
  readonly title?: string;
};

/** An attempt, with the times of its run if it had one. */
export type AttemptRecord = {
  readonly attempt: number;
  readonly outcome: PastAttempt['outcome'];
  readonly reason?: string;
  /** Why the run failed, if the log says so. */
  readonly failure?: FailureKind;
  readonly run_id?: string;
  /** The rung of a ladder that it asked for. */
  readonly gpu_asked?: string;
  readonly gpu_used?: string;
  /** The attempt failed, and its row then climbed to a higher rung. */
  readonly climbed?: true;
  readonly created_at?: string;
  readonly ended_at?: string;
  readonly queue_seconds?: number;
  readonly cold_start_seconds?: number;
  readonly run_seconds?: number;
  /** How often its run was executed in vain before, because a machine was lost, and for how many seconds in all. */
  readonly lost_executions?: number;
  readonly lost_seconds?: number;
  readonly cost_usd?: number;
  /** The run may have cost more than `cost_usd`, because the service reports too little. */
  readonly cost_incomplete?: true;
};

/** The paid seconds of an attempt. A service with a wrong clock may report negative times. */
export const gpuSecondsOf = ({
  cold_start_seconds = 0,
  run_seconds = 0,
  lost_seconds = 0,
}: Pick<AttemptRecord, 'cold_start_seconds' | 'run_seconds' | 'lost_seconds'>): number =>
  [cold_start_seconds, run_seconds, lost_seconds].reduce((sum, seconds) => sum + Math.max(0, seconds), 0);

/** A line of `parts/…`: the result of a row. Its inputs are in its page. */
export type PartRecord = {
  readonly row: number;
  /** The sent place, unless it is the row's number. */
  readonly place?: number;
  /** The GPU that was asked for, if it is not the row's own; with a ladder, the last rung. */
  readonly gpu_asked?: string;
  /** The inputs that were sent, where they are not those of the sheet. */
  readonly change?: InputChange;
  /** If the row had an outcome before and was sent again: that outcome, and how many of the attempts led to it. */
  readonly before?: { readonly outcome: Outcome; readonly attempts: number };
  readonly outcome: Outcome;
  readonly reason?: string;
  readonly attempts: readonly AttemptRecord[];
  /** The attempt that the result comes from, if later ones did not replace it; 0: none of them, as it was reused. */
  readonly result_attempt?: number;
  readonly files: readonly FileRecord[];
  readonly texts?: readonly string[];
  /** If another batch bought the result: `<batch>#<row>`. The row has no place in this batch. */
  readonly reused_from?: string;
};

export const placeOf = ({ place, row }: Pick<PartRecord, 'place' | 'row'>): number => place ?? row;

export const resultAttempt = ({
  attempts,
  result_attempt: kept,
}: Pick<PartRecord, 'attempts' | 'result_attempt'>): AttemptRecord | undefined =>
  kept === undefined ? attempts.at(-1) : attempts.find(({ attempt }) => attempt === kept);

const OUTPUTS_MISSING = 'outputs_missing: ';

/** Why the files of a succeeded run were not delivered (R14). */
export const whyMissing = (reason: string): string =>
  reason.startsWith(OUTPUTS_MISSING) ? reason : `${OUTPUTS_MISSING}${reason}`;

/** The run that a row has paid for although its files were not delivered. */
export function undelivered(
  record: Pick<PartRecord, 'outcome' | 'reason' | 'attempts' | 'result_attempt'>,
): AttemptRecord | undefined {
  if (record.outcome !== 'failed' || !record.reason?.startsWith(OUTPUTS_MISSING)) return undefined;
  const attempt = resultAttempt(record);
  return attempt?.outcome === 'succeeded' && attempt.run_id !== undefined ? attempt : undefined;
}

/**
 * Whether its files were fetched for this record. A row that is sent again without success keeps the files that it had; a row
 * whose files are fetched again has no new attempt.
 */
export const isFetched = ({
  outcome,
  attempts,
  before,
  result_attempt: kept,
}: Pick<PartRecord, 'outcome' | 'before' | 'result_attempt'> & {
  readonly attempts: readonly unknown[];
}): boolean =>
  outcome === 'succeeded' &&
  (before?.outcome !== 'succeeded' || (kept === undefined && attempts.length > before.attempts));

/** A line of results.jsonl: inputs and result of a row. */
export type RowRecord = Omit<PartRecord, 'place' | 'before' | 'change'> & {
  readonly key: string;
  readonly inputs: Readonly<Record<string, unknown>>;
};

/**
 * The record of a row that was sent again. A row keeps its best result (R33): only a success replaces an earlier success, and a
 * cancellation without a run replaces nothing. The attempts of both records add up. `before`: the record so far; undefined if the
 * row was never sent.
 */
export function recordAgain(before: PartRecord | undefined, now: PartRecord): PartRecord {
  const earlier = before?.attempts ?? [];
  const last = earlier.at(-1)?.attempt ?? 0;
  const attempts = [
    ...earlier,
    ...now.attempts.map((attempt) => ({ ...attempt, attempt: last + attempt.attempt })),
  ];
  const had = { outcome: before?.outcome ?? 'cancelled', attempts: earlier.length } as const;
  const hasRun = now.attempts.some(({ run_id }) => run_id !== undefined);
  if (before === undefined || replaces({ ...now, hasRun }, before)) return { ...now, attempts, before: had };
  const { place } = now;
  const { place: _, ...kept } = before;
  const reason = reasonOf(before, now);
  const result = resultAttempt(before)?.attempt ?? 0;
  return {
    ...kept,
    ...(place === undefined ? {} : { place }),
    ...(reason === undefined ? {} : { reason }),
    attempts,
    ...(result === attempts.at(-1)?.attempt ? {} : { result_attempt: result }),
    before: had,
  };
}

/** Whether a newer result of a row takes the place of an earlier one. */
export const replaces = (
  now: { readonly outcome: Outcome; readonly hasRun: boolean },
  before: { readonly outcome: Outcome },
): boolean =>
  now.outcome === 'succeeded' ||
  (before.outcome !== 'succeeded' && (now.outcome !== 'cancelled' || now.hasRun));

/** The reason of a kept success says how the later request ended. */
function reasonOf(before: PartRecord, { outcome, reason }: PartRecord): string | undefined {
  if (before.outcome !== 'succeeded' || outcome === 'cancelled') return before.reason;
  const why = `sent again: ${outcome}${reason === undefined ? '' : ` (${reason})`}; the earlier result is kept`;
  const isNewest = before.reason === undefined || before.result_attempt !== undefined;
  return isNewest ? why : `${before.reason}; ${why}`;
}
