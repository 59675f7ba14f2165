// Adds rows with an outcome to the batch's tally.

import { isWrittenOff } from '../batch/accounting/reservations.ts';
import { NO_TALLY, tallyOutcome, tallyUse, type Tally } from '../batch/accounting/tally.ts';
import { gpuSecondsOf, placeOf, type AttemptRecord, type PartRecord } from './row-record.ts';

type Counted = Pick<PartRecord, 'outcome' | 'attempts' | 'before'>;

/** What these records change: a row that was sent again has another outcome, and its new attempts. */
export const tallyChange = (records: readonly Counted[]): Tally => records.reduce(addChange, NO_TALLY);

function addChange(tally: Tally, { outcome, attempts, before }: Counted): Tally {
  if (before === undefined) return addRecord(tally, { outcome, attempts });
  const moved = tallyOutcome(tallyOutcome(tally, outcome), before.outcome, -1);
  return attempts.slice(before.attempts).reduce(addAttempt, moved);
}

export function addRecord(tally: Tally, record: Counted): Tally {
  return record.attempts.reduce(addAttempt, tallyOutcome(tally, record.outcome));
}

/** How many of its new attempts had a run that has ended, and whose cost is not known, or only in part. */
export const unpricedIn = ({ attempts, before }: Counted): number =>
  attempts.slice(before?.attempts ?? 0).filter((one) => one.cost_incomplete && !isWrittenOff(endOf(one)))
    .length;

/** How many of its new attempts may have had a run whose cost nothing says. */
export const spentInFullIn = (record: Counted): number =>
  unpricedIn(record) +
  record.attempts.slice(record.before?.attempts ?? 0).filter((one) => isWrittenOff(endOf(one))).length;

/** The place and the cost in nano-dollars of each new run whose cost is known. */
export const runCostsIn = ({
  attempts,
  before,
  ...record
}: PartRecord): readonly (readonly [place: number, nano: number])[] =>
  attempts
    .slice(before?.attempts ?? 0)
    .filter(({ cost_usd, cost_incomplete }) => cost_usd !== undefined && !cost_incomplete)
    .map(({ cost_usd = 0 }) => [placeOf(record), Math.round(cost_usd * 1e9)] as const);

const endOf = ({ outcome, run_id }: AttemptRecord) => ({
  outcome,
  ...(run_id === undefined ? {} : { runId: run_id }),
});

function addAttempt(tally: Tally, { gpu_used, cost_usd = 0, ...times }: AttemptRecord): Tally {
  if (gpu_used === undefined) return tally;
  return tallyUse(tally, gpu_used, { runs: 1, seconds: gpuSecondsOf(times), costUsd: cost_usd });
}
