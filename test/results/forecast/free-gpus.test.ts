// The forecast of rows that cost nothing: a price of 0 beside other prices is known, and an unknown price is not 0.

import { expect, it } from 'vitest';
import { forecastLines } from '../../../src/cli/run/forecast.ts';
import { estimateOf } from '../../../src/results/estimate.ts';
import type { BatchFile } from '../../../src/store/batch-file.ts';
import { freshFolder } from '../../stage/fresh-folder.ts';
import { FILE } from '../../store/batch-facts.ts';

const estimateAt = (
  prices: Readonly<Record<string, number>>,
  deployment: Partial<BatchFile['deployment']> = {},
) => {
  const file: BatchFile = {
    ...FILE,
    deployment: { ...FILE.deployment, ...deployment },
    service: { ...FILE.service, prices },
  };
  return estimateOf(freshFolder(), { file, laidOut: { gpus: { own: 10 } } });
};

it.each([
  ['0 beside other prices', { own: 0, T4: 0.1 }, 0],
  ['0 as all others, as on own GPUs', { own: 0 }, null],
  ['not there', { T4: 0.1 }, null],
])('a second of ten rows on a GPU whose price is %s costs %j', async (_, prices, usd) => {
  expect((await estimateAt(prices)).usd_per_run_second).toBe(usd);
});

it('a run with the price 0 is free, and the plan says so', async () => {
  const estimate = await estimateAt({}, { runPrice: 0 });
  expect(estimate.cost_usd).toEqual({ low: 0, expected: 0, high: 0 });
  expect(forecastLines(estimate)[0]).toBe('  cost      $0.00: by its price, a run is free');
});
