// Counts the outcomes of collected rows. No two parts share a row, so tallies can be added in any order.

import { GPU_NAME_CHARS, MAX_GPU_NAMES } from '../bounds.ts';
import { NO_OUTCOMES, OUTCOMES, type Outcome, type OutcomeCounts } from '../outcome.ts';

/** Use of one GPU. `seconds` includes cold start and run; the cost is an estimate in US dollars. */
export type GpuUse = { readonly runs: number; readonly seconds: number; readonly costUsd: number };

export type Tally = {
  readonly outcomes: OutcomeCounts;
  readonly gpus: Readonly<Record<string, GpuUse>>;
  /** With a ladder: use of the rungs below the one on which the row ended; part of `gpus`. */
  readonly climbing?: GpuUse;
};

export const NO_TALLY: Tally = { outcomes: NO_OUTCOMES, gpus: {} };

export function addTallies(a: Tally, b: Tally): Tally {
  // A worker of an older version counts fewer outcomes.
  const [left, right] = [a, b].map((tally) => ({ ...NO_OUTCOMES, ...tally.outcomes })) as [
    OutcomeCounts,
    OutcomeCounts,
  ];
  const outcomes = Object.fromEntries(
    OUTCOMES.map((outcome) => [outcome, left[outcome] + right[outcome]]),
  ) as OutcomeCounts;
  const gpus = { ...a.gpus };
  for (const [gpu, use] of Object.entries(b.gpus)) addTo(gpus, gpu, use);
  const climbing = addUses(a.climbing, b.climbing);
  return { outcomes, gpus, ...(climbing === undefined ? {} : { climbing }) };
}

export function tallyOutcome(tally: Tally, outcome: Outcome, count = 1): Tally {
  return { ...tally, outcomes: { ...tally.outcomes, [outcome]: tally.outcomes[outcome] + count } };
}

export function tallyUse(tally: Tally, gpu: string, use: GpuUse): Tally {
  const gpus = { ...tally.gpus };
  addTo(gpus, gpu, use);
  return { ...tally, gpus };
}

export function tallyClimbing(tally: Tally, use: GpuUse): Tally {
  return { ...tally, climbing: addUse(tally.climbing ?? NO_USE, use) };
}

/** Rows that have an outcome. */
export const rowsDone = ({ outcomes }: Pick<Tally, 'outcomes'>): number =>
  OUTCOMES.reduce((sum, outcome) => sum + outcomes[outcome], 0);

export const costSoFar = ({ gpus }: Pick<Tally, 'gpus'>): number =>
  Object.values(gpus).reduce((sum, use) => sum + use.costUsd, 0);

/** Names beyond the maximum are counted together as `other`. */
function addTo(gpus: Record<string, GpuUse>, name: string, use: GpuUse): void {
  const short = name === '__proto__' ? 'other' : name.slice(0, GPU_NAME_CHARS);
  const gpu = Object.hasOwn(gpus, short) || Object.keys(gpus).length < MAX_GPU_NAMES ? short : 'other';
  gpus[gpu] = addUse(Object.hasOwn(gpus, gpu) ? (gpus[gpu] as GpuUse) : NO_USE, use);
}

const addUse = ({ runs, seconds, costUsd }: GpuUse, use: GpuUse): GpuUse => ({
  runs: runs + use.runs,
  seconds: seconds + use.seconds,
  costUsd: costUsd + use.costUsd,
});

const addUses = (a: GpuUse | undefined, b: GpuUse | undefined): GpuUse | undefined =>
  a === undefined ? b : addUse(a, b ?? NO_USE);

const NO_USE: GpuUse = { runs: 0, seconds: 0, costUsd: 0 };
