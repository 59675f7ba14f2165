// Counters folded from the outcomes of collected rows. Parts are disjoint, so tallies add up in any order.

import { OUTCOMES, type Outcome } from './outcome.ts';

/** What the runs on one GPU took. `seconds` counts cold start and run; the cost is an estimate in US dollars. */
export type GpuUse = { readonly runs: number; readonly seconds: number; readonly costUsd: number };

export type Tally = {
  readonly outcomes: Readonly<Record<Outcome, number>>;
  readonly gpus: Readonly<Record<string, GpuUse>>;
};

export const NO_TALLY: Tally = {
  outcomes: { succeeded: 0, failed: 0, 'timed-out': 0, cancelled: 0, refused: 0, unknown: 0 },
  gpus: {},
};

export function addTallies(a: Tally, b: Tally): Tally {
  const gpus = { ...a.gpus };
  for (const [gpu, use] of Object.entries(b.gpus)) gpus[gpu] = addUse(gpus[gpu], use);
  const outcomes = { ...a.outcomes };
  for (const outcome of OUTCOMES) outcomes[outcome] += b.outcomes[outcome];
  return { outcomes, gpus };
}

export function tallyOutcome(tally: Tally, outcome: Outcome, count = 1): Tally {
  return { ...tally, outcomes: { ...tally.outcomes, [outcome]: tally.outcomes[outcome] + count } };
}

export function tallyUse(tally: Tally, gpu: string, use: GpuUse): Tally {
  return { ...tally, gpus: { ...tally.gpus, [gpu]: addUse(tally.gpus[gpu], use) } };
}

/** Rows that have an outcome. */
export function rowsDone(tally: Tally): number {
  return OUTCOMES.reduce((sum, outcome) => sum + tally.outcomes[outcome], 0);
}

export function costSoFar(tally: Tally): number {
  return Object.values(tally.gpus).reduce((sum, use) => sum + use.costUsd, 0);
}

function addUse(a: GpuUse | undefined, b: GpuUse): GpuUse {
  if (a === undefined) return b;
  return { runs: a.runs + b.runs, seconds: a.seconds + b.seconds, costUsd: a.costUsd + b.costUsd };
}
