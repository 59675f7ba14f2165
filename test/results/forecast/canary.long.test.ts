// The forecast from the five rows that a canary of 1,000 rows chooses.

import { describe, expect, it } from 'vitest';
import { canaryRows } from '../../../src/batches/canary-rows.ts';
import { forecast, type RunSample } from '../../../src/results/forecast/forecast.ts';
import type { Interval } from '../../../src/results/forecast/estimated-sum.ts';
import { between, dice, lognormal, sizeBetween } from './workload.ts';

const ROWS = 1_000;
const SEEDS = Array.from({ length: 50 }, (_, at) => at + 1);

type Roll = () => number;

/** Rows whose inputs decide about the run time, or do not. */
const SHEETS: Readonly<Record<string, (roll: Roll) => number>> = {
  even: () => 1,
  steps: (roll) => between(roll, 10, 60) / 35,
  skewed: (roll) => lognormal(roll, { mean: 1, variation: 0.8 }),
};

/** The forecast of the bill from the canary, and the bill. */
function foretold(
  at: number,
  factorOf: (roll: Roll) => number,
  [variations, failing]: readonly [readonly [number, number], number],
) {
  const roll = dice(at * 13 + 5);
  const [mean, variation] = [between(roll, 1, 60), between(roll, ...variations)];
  const [failures, coldStart] = [between(roll, 0, failing), between(roll, 0, 30)];
  const containers = sizeBetween(roll, 1, 20);
  const runs = Array.from({ length: ROWS }, () => {
    const factor = factorOf(roll);
    const own = [lognormal(roll, { mean: mean * factor, variation })];
    while (own.length <= 2 && roll() < failures)
      own.push(lognormal(roll, { mean: mean * factor, variation }));
    return own;
  });
  const [chosen = []] = canaryRows([runs.map((_, index) => index + 1)], 5);
  const warm = Math.min(chosen.length, containers);
  const samples = chosen.map((row, nth): RunSample => {
    const isOpening = nth < warm;
    const own = (runs[row - 1] ?? []).map((run, first) => ({
      coldStart: isOpening && first === 0 ? coldStart : 0,
      run,
    }));
    return { gpu: 'A10G', batch: 'own', isOpening, runs: own };
  });
  const rows = { A10G: ROWS - chosen.length };
  const made = forecast({
    samples,
    rows,
    prices: { A10G: 1 },
    retries: 2,
    concurrency: 2 * containers,
    containers,
    warm,
  });
  const spent = samples
    .flatMap((sample) => sample.runs)
    .reduce((sum, { coldStart: cold, run }) => sum + cold + run, 0);
  const bill = runs.flat().reduce((sum, run) => sum + run, 0) + coldStart * containers;
  const { low, expected, high } = made.costUsd as Interval;
  return { chosen, bill, low: low + spent, expected: expected + spent, high: high + spent };
}

describe('the forecast from a canary of 5 of 1,000 rows', () => {
  it.each(Object.entries(SHEETS))(
    'has an interval with the true bill for at least 80 % of workloads: %s',
    { timeout: 120_000 },
    (_, make) => {
      const hits = SEEDS.filter((at) => {
        const { low, bill, high } = foretold(at, make, [[0.05, 1], 0.1]);
        return low <= bill && bill <= high;
      });
      expect(hits.length).toBeGreaterThanOrEqual(0.8 * SEEDS.length);
    },
  );

  it(
    'is within 15 % of the bill for at least 95 % of workloads whose run times vary by at most 15 %',
    { timeout: 120_000 },
    () => {
      const near = SEEDS.filter((at) => {
        const { expected, bill } = foretold(at, () => 1, [[0.02, 0.15], 0]);
        return Math.abs(expected / bill - 1) <= 0.15;
      });
      expect(near.length).toBeGreaterThanOrEqual(0.95 * SEEDS.length);
    },
  );
});
