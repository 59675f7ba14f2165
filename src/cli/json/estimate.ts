// A forecast as JSON, the same in plan and in the canary of a batch.

import { z } from 'zod';
import { amount, count } from './shape.ts';

/** It contains the true value with a probability of 90 %. */
const interval = z.object({ low: amount, expected: amount, high: amount });

const amounts = {
  rows: count,
  runs: count.describe('known runs that the forecast rests on'),
  usd_per_run_second: amount.nullable(),
  cost_usd: interval.nullable(),
  seconds: interval.nullable(),
};

export const estimateSchema = z.object({
  source: z.enum(['earlier_batches', 'canary', 'prices']),
  batches: z.array(z.string()),
  ...amounts,
  by_gpu: z.record(z.string(), z.object(amounts)),
});
