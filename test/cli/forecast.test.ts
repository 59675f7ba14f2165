import { expect, it } from 'vitest';
import { forecastLines } from '../../src/cli/run/forecast.ts';

const FREE = { low: 0, expected: 0, high: 0 };
const own = {
  rows: 20,
  runs: 0,
  cost_usd: null,
  seconds: null,
  usd_per_run_second: 0,
  batches: [],
  by_gpu: {},
};

it('own GPUs cost nothing, whether their time is known or not', () => {
  expect(forecastLines({ ...own, source: 'prices' })).toEqual([
    '  cost      nothing',
    '  time      unknown: no earlier run here',
  ]);
  const seconds = { low: 5, expected: 6, high: 8 };
  const measured = {
    ...own,
    source: 'earlier_batches',
    runs: 20,
    batches: ['lights'],
    cost_usd: FREE,
    seconds,
  } as const;
  expect(forecastLines(measured)).toEqual([
    '  cost      nothing',
    '  time      about 6.0 s, 90 % likely between 5.0 s and 8.0 s',
    '            from 20 runs in lights, if these rows are like those',
  ]);
  const few = { ...measured, rows: 2, runs: 2, cost_usd: null, seconds: null };
  expect(forecastLines({ ...measured, ...few, cost_usd: null, seconds: null, by_gpu: { CPU: few } })).toEqual(
    [
      '  cost      nothing',
      '  time      unknown in total',
      '            CPU × 2: only 2 earlier runs here',
      '            from 2 runs in lights, if these rows are like those',
    ],
  );
});
