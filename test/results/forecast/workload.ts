// Workloads by seed: rows with random run times, failures and cold starts, executed by the containers of a deployment.

import { seededNumber } from '../../../src/batch/seeded-number.ts';
import type { RunSample } from '../../../src/results/forecast/forecast.ts';

export type Workload = {
  /** Mean and coefficient of variation of the lognormal run times. */
  readonly mean: number;
  readonly variation: number;
  readonly failures: number;
  readonly retries: number;
  readonly coldStart: number;
  readonly containers: number;
};

/** A sequence of numbers in [0, 1) that depends only on the seed. */
export function dice(seed: number): () => number {
  let drawn = 0;
  return () => seededNumber(seed, (drawn += 1));
}

export const between = (roll: () => number, low: number, high: number): number => low + (high - low) * roll();

/** A whole number; small ones are as likely as large ones. */
export const sizeBetween = (roll: () => number, low: number, high: number): number =>
  Math.round(low * (high / low) ** roll());

export type Done = {
  readonly samples: readonly RunSample[];
  /** Seconds that are paid. */
  readonly busy: number;
  /** From the first start to the last end. */
  readonly wall: number;
};

/** The first run in each container begins cold; a free container takes the next row. */
export function execute(
  roll: () => number,
  workload: Workload,
  rows: number,
  { gpu = 'A10G', batch = 'earlier' } = {},
): Done {
  const free = Array.from({ length: workload.containers }, () => 0);
  const samples = Array.from({ length: rows }, (_, at): RunSample => {
    const isOpening = at < workload.containers;
    const runs = runsOf(roll, workload).map((run, nth) => ({
      coldStart: isOpening && nth === 0 ? workload.coldStart : 0,
      run,
    }));
    const next = free.indexOf(Math.min(...free));
    free[next] = (free[next] ?? 0) + runs.reduce((sum, { coldStart, run }) => sum + coldStart + run, 0);
    return { gpu, batch, isOpening, runs };
  });
  const busy = samples
    .flatMap(({ runs }) => runs)
    .reduce((sum, { coldStart, run }) => sum + coldStart + run, 0);
  return { samples, busy, wall: Math.max(...free) };
}

function runsOf(roll: () => number, { failures, retries, ...times }: Workload): readonly number[] {
  const runs = [lognormal(roll, times)];
  while (runs.length <= retries && roll() < failures) runs.push(lognormal(roll, times));
  return runs;
}

/** A lognormal number of this mean and coefficient of variation. */
export function lognormal(
  roll: () => number,
  { mean, variation }: Pick<Workload, 'mean' | 'variation'>,
): number {
  const square = Math.log1p(variation ** 2);
  const normal = Math.sqrt(-2 * Math.log(1 - roll())) * Math.cos(2 * Math.PI * roll());
  return mean * Math.exp(Math.sqrt(square) * normal - square / 2);
}
