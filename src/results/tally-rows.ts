// Adds rows with an outcome to the batch's tally.

import { NO_TALLY, tallyOutcome, tallyUse, type Tally } from '../batch/accounting/tally.ts';
import type { AttemptRecord, PartRecord } from './row-record.ts';

type Counted = Pick<PartRecord, 'outcome' | 'attempts'>;

export const tallyRows = (records: readonly Counted[]): Tally => records.reduce(addRecord, NO_TALLY);

export function addRecord(tally: Tally, record: Counted): Tally {
  return record.attempts.reduce(addAttempt, tallyOutcome(tally, record.outcome));
}

function addAttempt(
  tally: Tally,
  { gpu_used, cost_usd = 0, cold_start_seconds = 0, run_seconds = 0 }: AttemptRecord,
): Tally {
  if (gpu_used === undefined) return tally;
  return tallyUse(tally, gpu_used, { runs: 1, seconds: cold_start_seconds + run_seconds, costUsd: cost_usd });
}
