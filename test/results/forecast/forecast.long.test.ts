import { describe, expect, it } from 'vitest';
import {
  forecast,
  type Forecast,
  type ForecastParams,
  type RunSample,
} from '../../../src/results/forecast/forecast.ts';
import type { Interval } from '../../../src/results/forecast/estimated-sum.ts';
import { between, dice, execute, lognormal, sizeBetween, type Workload } from './workload.ts';

const PRICES = { A10G: 0.0003, H100: 0.0023 };
const SEEDS = Array.from({ length: 100 }, (_, at) => at + 1);

const workloadBy = (roll: () => number, variation: readonly [number, number]): Workload => ({
  mean: between(roll, 1, 60),
  variation: between(roll, ...variation),
  failures: between(roll, 0, 0.1),
  retries: 2,
  coldStart: between(roll, 0, 30),
  containers: sizeBetween(roll, 1, 20),
});

const STEADY: Workload = {
  mean: 10,
  variation: 0.3,
  failures: 0,
  retries: 2,
  coldStart: 0,
  containers: 4,
};

type KnownRuns = Pick<ForecastParams, 'samples' | 'rows'> & Partial<ForecastParams>;
const foretell = (params: KnownRuns): Forecast =>
  forecast({ prices: PRICES, retries: 2, concurrency: 8, containers: 4, ...params });

type Sizes = readonly [low: number, high: number];

/** The forecast from some rows of a workload, and what other rows of it then really need. */
function foretold(seed: number, { variation, known: sampled, rows }: Readonly<Record<string, Sizes>>) {
  const roll = dice(seed);
  const workload = workloadBy(roll, variation ?? [0.1, 1]);
  const { samples } = execute(roll, workload, sizeBetween(roll, ...(sampled ?? [20, 500])));
  const count = sizeBetween(roll, ...(rows ?? [10, 1_500]));
  const { containers } = workload;
  const made = foretell({ samples, rows: { A10G: count }, concurrency: 2 * containers, containers });
  const { busy, wall } = execute(roll, workload, count, { batch: 'new' });
  return { cost: given(made.costUsd), bill: busy * PRICES.A10G, time: given(made.seconds), wall };
}

function given(interval: Interval | undefined): Interval {
  if (interval === undefined) throw new Error('there is no forecast');
  return interval;
}

const FROM_MANY_ROWS = SEEDS.map((seed) => foretold(seed, {}));

const covers = ({ low, high }: Interval, value: number): boolean => low <= value && value <= high;
const widthOf = (interval: Interval | undefined): number => {
  const { low, high, expected } = given(interval);
  return (high - low) / expected;
};

describe('the forecast of the cost', () => {
  it('has an interval with the true bill for at least 85 of 100 workloads, from many earlier rows', () => {
    const hits = FROM_MANY_ROWS.filter(({ cost, bill }) => covers(cost, bill));
    expect(hits.length).toBeGreaterThanOrEqual(85);
  });

  it('has an interval with the true bill for at least 85 of 100 workloads, from the first five rows', () => {
    const forecasts = SEEDS.map((seed) => foretold(seed, { known: [5, 5] }));
    expect(forecasts.filter(({ cost, bill }) => covers(cost, bill)).length).toBeGreaterThanOrEqual(85);
  });

  it('is within 15 % of the true bill if run times vary by at most 15 %', () => {
    const forecasts = SEEDS.slice(0, 50).map((seed) =>
      foretold(seed, { variation: [0.05, 0.15], known: [50, 500], rows: [100, 1_500] }),
    );
    expect(forecasts.filter(({ cost, bill }) => Math.abs(cost.expected / bill - 1) > 0.15)).toEqual([]);
  });

  it('has an interval with the true bill also if batches differ from each other', () => {
    const hits = SEEDS.filter((seed) => {
      const roll = dice(seed);
      const workload = workloadBy(roll, [0.1, 0.6]);
      const another = (rows: number, batch: string) =>
        execute(roll, { ...workload, mean: lognormal(roll, { mean: 10, variation: 0.3 }) }, rows, { batch });
      const samples = ['a', 'b', 'c'].flatMap((batch) => another(100, batch).samples);
      const { containers } = workload;
      const made = foretell({ samples, rows: { A10G: 500 }, concurrency: containers, containers });
      return covers(given(made.costUsd), another(500, 'new').busy * PRICES.A10G);
    });
    expect(hits.length).toBeGreaterThanOrEqual(85);
  });

  it('is wider from fewer samples', () => {
    const { samples } = execute(dice(1), STEADY, 300);
    const widths = [5, 30, 300].map((some) =>
      widthOf(foretell({ samples: samples.slice(0, some), rows: { A10G: 100 } }).costUsd),
    );
    expect(widths.toSorted((a, b) => b - a)).toEqual(widths);
    expect(widths[0]).toBeGreaterThan(3 * (widths[2] ?? 0));
  });

  it('does not take the absence of retries in five rows as proof that there are none', () => {
    const samples = Array.from({ length: 5 }, (): RunSample => sampleOf([10]));
    expect(widthOf(foretell({ samples, rows: { A10G: 100 } }).costUsd)).toBeGreaterThan(0.2);
    expect(widthOf(foretell({ samples, rows: { A10G: 100 }, retries: 0 }).costUsd)).toBe(0);
  });

  it('counts retries at the observed rate, and at most as many as the batch allows', () => {
    const samples = Array.from({ length: 100 }, (_, at) => sampleOf(at % 10 === 0 ? [10, 10, 10] : [10]));
    const costs = [2, 1, 0].map((retries) =>
      given(foretell({ samples, rows: { A10G: 1_000 }, retries }).costUsd),
    );
    expect(costs.map(({ expected }) => expected / PRICES.A10G)).toEqual(
      [12_000, 11_000, 10_000].map((seconds) => expect.closeTo(seconds, 6)),
    );
  });

  it('does not count the cold starts of a small batch for every row of a large one, nor the other way round', () => {
    const workload = { ...STEADY, coldStart: 60, variation: 0.1 };
    for (const [before, after] of [
      [20, 2_000],
      [2_000, 20],
    ] as const) {
      const { samples } = execute(dice(3), workload, before);
      const made = foretell({ samples, rows: { A10G: after } });
      const { busy } = execute(dice(4), workload, after);
      expect(given(made.costUsd).expected / (busy * PRICES.A10G)).toBeCloseTo(1, 1);
    }
  });

  it('adds up GPUs, and the total is unknown if one of them was not measured', () => {
    const a10g = execute(dice(5), STEADY, 50).samples;
    const h100 = execute(dice(6), { ...STEADY, mean: 3 }, 50, { gpu: 'H100' }).samples;
    const rows = { A10G: 60, H100: 40 };
    const both = foretell({ samples: [...a10g, ...h100], rows });
    const costs = Object.values(both.byGpu).map(({ costUsd }) => given(costUsd).expected);
    const sum = costs.reduce((total, cost) => total + cost, 0);
    expect(given(both.costUsd).expected).toBeCloseTo(sum, 9);
    expect(both).toMatchObject({ rows: 100, runs: 100, byGpu: { H100: { rows: 40, runs: 50 } } });
    const gpuForecast = foretell({ samples: [...a10g, ...h100.slice(0, 2)], rows });
    expect(gpuForecast).toMatchObject({ costUsd: undefined, seconds: undefined });
    expect(gpuForecast.byGpu['H100']).toEqual({ rows: 40, runs: 2, costUsd: undefined, seconds: undefined });
    expect(gpuForecast.byGpu['A10G']).toEqual(both.byGpu['A10G']);
    expect(foretell({ samples: [], rows })).toMatchObject({ runs: 0, costUsd: undefined });
  });

  it('is unknown without a price, while the time is known', () => {
    const { samples } = execute(dice(5), STEADY, 50);
    const made = foretell({ samples, rows: { A10G: 60 }, prices: {} });
    expect(made.costUsd).toBeUndefined();
    expect(made.seconds).toBeDefined();
  });

  it('is nothing for no rows, and needs nothing known about GPUs that no row uses', () => {
    const nothing = { low: 0, expected: 0, high: 0 };
    const made = foretell({ samples: [], rows: { H100: 0 } });
    expect(made).toEqual({ rows: 0, runs: 0, costUsd: nothing, seconds: nothing, byGpu: {} });
    const { samples } = execute(dice(5), STEADY, 50);
    expect(foretell({ samples, rows: { A10G: 60, H100: 0 } }).costUsd).toBeDefined();
  });

  it('is the same for the same samples', () => {
    const { samples } = execute(dice(5), STEADY, 50);
    expect(foretell({ samples, rows: { A10G: 60 } })).toEqual(foretell({ samples, rows: { A10G: 60 } }));
  });
});

describe('the forecast of the wall time', () => {
  it('has an interval with the true time for at least 80 of 100 workloads', () => {
    const hits = FROM_MANY_ROWS.filter(({ time, wall }) => covers(time, wall));
    expect(hits.length).toBeGreaterThanOrEqual(80);
  });

  const even = Array.from({ length: 20 }, () => ({ ...sampleOf([10]), queueSeconds: 5 }));
  const timeOf = (params: Partial<ForecastParams>): number =>
    Math.round(
      given(foretell({ samples: even, rows: { A10G: 40 }, retries: 0, ...params }).seconds).expected,
    );

  it('counts whole rounds, by the containers of the deployment or by the slots with the queue', () => {
    expect(timeOf({ containers: 4, concurrency: 8 })).toBe(100);
    expect(timeOf({ containers: 3, concurrency: 8 })).toBe(140);
    expect(timeOf({ containers: 8, concurrency: 4 })).toBe(150);
    expect(timeOf({ containers: 80, concurrency: 80 })).toBe(15);
  });

  it('is not shorter than the limit of starts allows', () => {
    expect(timeOf({ startsPerMinute: 6 })).toBe(390 + 5 + 10);
  });
});

const sampleOf = (runs: readonly number[]): RunSample => ({
  gpu: 'A10G',
  batch: 'earlier',
  isOpening: false,
  runs: runs.map((run) => ({ coldStart: 0, run })),
});
