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
import { nanoOf } from '../options/text/printed-numbers.ts';

type Counted = Pick<PartRecord, 'outcome' | 'attempts' | 'before'>;

/** The change of the tally by these records: a retried row has a new outcome and further attempts. */
export const tallyChange = (records: readonly Counted[]): Tally => records.reduce(addChange, NO_TALLY);

function addChange(tally: Tally, { outcome, attempts, before }: Counted): Tally {
  if (before === undefined) return addRecord(tally, { outcome, attempts });
  const moved = tallyOutcome(tallyOutcome(tally, outcome), before.outcome, -1);
  return addAttempts(moved, attempts.slice(before.attempts));
}

export function addRecord(tally: Tally, record: Counted): Tally {
  return addAttempts(tallyOutcome(tally, record.outcome), record.attempts);
}

/** New attempts whose run has ended and whose cost is unknown, or known only in part. */
export const unpricedIn = ({ attempts, before }: Counted): readonly AttemptRecord[] =>
  attempts
    .slice(before?.attempts ?? 0)
    .filter((attempt) => attempt.cost_incomplete && !isWrittenOff(endOf(attempt)));

/** New attempts that may have had a run of unknown cost. */
export const spentInFullIn = (record: Counted): readonly AttemptRecord[] => [
  ...unpricedIn(record),
  ...record.attempts.slice(record.before?.attempts ?? 0).filter((attempt) => isWrittenOff(endOf(attempt))),
];

/** Counts the attempts that have cost more than is known, or anything at all. */
export const unpricedCount = (attempts: readonly AttemptRecord[]): number =>
  attempts.filter(({ outcome, cost_incomplete }) => cost_incomplete === true || outcome === 'unknown').length;

/** The known cost of each new run. A run that no machine took, or that failed, says nothing about further runs. */
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
      const costNano = nanoOf(cost);
      const runCost: RunCost = rung < 0 ? [place, costNano] : [place, costNano, rung];
      return [runCost];
    });
}

const endOf = ({ outcome, run_id }: AttemptRecord) => ({
  outcome,
  ...(run_id === undefined ? {} : { runId: run_id }),
});

const addAttempts = (tally: Tally, attempts: readonly AttemptRecord[]): Tally =>
  climbedIn(attempts).reduce(
    (sum, climb) => tallyClimbing(sum, useOf(climb)),
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

/** Attempts on the lower rungs of a ladder. */
export const climbedIn = (attempts: readonly AttemptRecord[]): readonly AttemptRecord[] =>
  attempts.filter(({ climbed, gpu_used }) => climbed === true && gpu_used !== undefined);
