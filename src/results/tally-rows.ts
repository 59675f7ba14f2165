// Adds rows with an outcome to the batch's tally.

import type { RunCost } from '../batch/events.ts';
import { isWrittenOff } from '../batch/accounting/reserved-attempts.ts';
import {
  NO_TALLY,
  tallyClimbing,
  tallyOutcome,
  tallyUse,
  type GpuUse,
  type Tally,
} from '../batch/accounting/tally.ts';
import { gpuSecondsOf, placeOf, type AttemptRecord, type PartRecord } from './row-record.ts';

type Counted = Pick<PartRecord, 'outcome' | 'attempts' | 'before'>;

/** What these records change: a row that was sent again has another outcome, and its new attempts. */
export const tallyChange = (records: readonly Counted[]): Tally => records.reduce(addChange, NO_TALLY);

function addChange(tally: Tally, { outcome, attempts, before }: Counted): Tally {
  if (before === undefined) return addRecord(tally, { outcome, attempts });
  const moved = tallyOutcome(tallyOutcome(tally, outcome), before.outcome, -1);
  return addAttempts(moved, attempts.slice(before.attempts));
}

export function addRecord(tally: Tally, record: Counted): Tally {
  return addAttempts(tallyOutcome(tally, record.outcome), record.attempts);
}

/** Its new attempts that had a run that has ended, and whose cost is not known, or only in part. */
export const unpricedIn = ({ attempts, before }: Counted): readonly AttemptRecord[] =>
  attempts.slice(before?.attempts ?? 0).filter((one) => one.cost_incomplete && !isWrittenOff(endOf(one)));

/** Its new attempts that may have had a run whose cost nothing says. */
export const spentInFullIn = (record: Counted): readonly AttemptRecord[] => [
  ...unpricedIn(record),
  ...record.attempts.slice(record.before?.attempts ?? 0).filter((one) => isWrittenOff(endOf(one))),
];

/** What each of its new runs has cost, if that is known. A run that no machine took, or that failed, says nothing about others. */
export function runCostsIn(
  { attempts, before, ...record }: PartRecord,
  ladder: readonly string[],
): readonly RunCost[] {
  const place = placeOf(record);
  return attempts
    .slice(before?.attempts ?? 0)
    .flatMap(({ outcome, cost_usd: cost = 0, cost_incomplete, gpu_asked = '' }) => {
      if (outcome !== 'succeeded' || cost === 0 || cost_incomplete) return [];
      const rung = ladder.indexOf(gpu_asked);
      const nano = Math.round(cost * 1e9);
      const one: RunCost = rung < 0 ? [place, nano] : [place, nano, rung];
      return [one];
    });
}

const endOf = ({ outcome, run_id }: AttemptRecord) => ({
  outcome,
  ...(run_id === undefined ? {} : { runId: run_id }),
});

const addAttempts = (tally: Tally, attempts: readonly AttemptRecord[]): Tally =>
  climbedIn(attempts).reduce(
    (sum, one) => tallyClimbing(sum, useOf(one)),
    attempts.reduce(addAttempt, tally),
  );

function addAttempt(tally: Tally, attempt: AttemptRecord): Tally {
  return attempt.gpu_used === undefined ? tally : tallyUse(tally, attempt.gpu_used, useOf(attempt));
}

const useOf = ({ cost_usd = 0, ...times }: AttemptRecord): GpuUse => ({
  runs: 1,
  seconds: gpuSecondsOf(times),
  costUsd: cost_usd,
});

/** What climbing a ladder cost. */
export const climbedIn = (attempts: readonly AttemptRecord[]): readonly AttemptRecord[] =>
  attempts.filter(({ climbed, gpu_used }) => climbed === true && gpu_used !== undefined);
