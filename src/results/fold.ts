// What a row that is written adds to the batch's sums.

import { NO_TALLY, tallyOutcome, tallyUse, type Tally } from '../batch/tally.ts';
import type { AttemptRecord, RowRecord } from './record.ts';

export const tallyOf = (records: readonly RowRecord[]): Tally => records.reduce(fold, NO_TALLY);

export function fold(tally: Tally, record: RowRecord): Tally {
  return record.attempts.reduce(foldAttempt, tallyOutcome(tally, record.outcome));
}

function foldAttempt(
  tally: Tally,
  { gpu_used, cost_usd = 0, cold_start_seconds = 0, run_seconds = 0 }: AttemptRecord,
): Tally {
  if (gpu_used === undefined) return tally;
  return tallyUse(tally, gpu_used, { runs: 1, seconds: cold_start_seconds + run_seconds, costUsd: cost_usd });
}
