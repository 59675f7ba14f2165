import { expect, it } from 'vitest';
import { forecastLines } from '../../src/cli/run/forecast.ts';

const own = {
  rows: 20,
  runs: 0,
  cost_usd: null,
  seconds: null,
  usd_per_run_second: null,
  batches: [],
  by_gpu: {},
};

it('own GPUs have no cost that is counted, whether their time is known or not', () => {
  expect(forecastLines({ ...own, source: 'prices' })).toEqual([
    '  cost      not counted: no price is known',
    '  time      unknown: no earlier run here',
  ]);
  const seconds = { low: 5, expected: 6, high: 8 };
  const measured = {
    ...own,
    source: 'earlier_batches',
    runs: 20,
    batches: ['lights'],
    seconds,
  } as const;
  expect(forecastLines(measured)).toEqual([
    '  cost      not counted: no price is known',
    '  time      about 6.0 s, 90 % likely between 5.0 s and 8.0 s',
    '            from 20 runs in lights, if these rows are like those',
  ]);
  const few = { ...measured, rows: 2, runs: 2, cost_usd: null, seconds: null };
  expect(forecastLines({ ...measured, ...few, cost_usd: null, seconds: null, by_gpu: { CPU: few } })).toEqual(
    [
      '  cost      not counted: no price is known',
      '  time      not known in total',
      '            CPU × 2: only 2 earlier runs here; no price is known',
      '            from 2 runs in lights, if these rows are like those',
    ],
  );
});
