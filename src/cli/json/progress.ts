// What the workflow of a batch has published, as JSON: null if no server has it.

import { z } from 'zod';
import { OUTCOMES } from '../../batch/outcome.ts';
import type { ShownProgress } from '../../library/handle/shown-progress.ts';
import { limitsOf, limitsSchema } from './limits.ts';
import { amount, count, usdOf, type Given } from './shape.ts';

export const requestsSchema = z.object({
  sent: count,
  accepted: count,
  rejected: count,
  throttled: count,
  blocked: count,
  unconfirmed: count,
  adopted: z.object({ webhook: count, list: count }),
  absent: count,
  unknown: count,
  resubmitted: count,
  failed: count,
  duplicates: count,
});

export const gpusSchema = z.record(z.string(), z.object({ runs: count, seconds: amount, cost_usd: amount }));

export const progressSchema = z.object({
  pass: count,
  done: count.describe('rows with an outcome whose files are stored'),
  collecting: count.describe('rows with an outcome whose files are not stored yet'),
  sending: count,
  running: count,
  unconfirmed: count,
  retrying: count.describe('rows that wait for their next attempt'),
  unsent: count,
  again: count.describe('rows that had an outcome and are sent again'),
  reused: count,
  limits: limitsSchema,
  slots: count.nullable().describe('with -c auto: how many runs may be outstanding now'),
  granted: count.nullable().describe('in a pool: the slots that it has granted'),
  by_gpu: z
    .array(z.object({ gpu: z.string().nullable(), outstanding: count, waiting: count, unsent: count }))
    .describe('by the GPU that rows ask for; null: the GPU of the deployment'),
  useful_concurrency: z
    .array(
      z.object({
        gpu: z.string().nullable(),
        concurrency: count,
        basis: z.enum(['found', 'searching', 'untimed']),
      }),
    )
    .nullable(),
  gpus: gpusSchema.describe('what runs have used so far'),
  requests: requestsSchema,
  budget: z.object({ spent_usd: amount, reserved_usd: amount, is_estimate: z.boolean() }).nullable(),
  ladder: z.array(z.object({ size: count, gpu: z.string(), is_proven: z.boolean() })).nullable(),
  canary: z.object({ rows: count, ended: count, gate: z.string() }).nullable(),
  last_failure: z.object({ row: count, outcome: z.enum(OUTCOMES), reason: z.string().nullable() }).nullable(),
});

export function progressOf(shown: ShownProgress): Given<z.infer<typeof progressSchema>> {
  const { useful, byGpu, tally, ledger, budget, ladder, lastFailure, again = 0, reused = 0 } = shown;
  return {
    ...shown,
    again,
    reused,
    limits: limitsOf(shown),
    by_gpu: byGpu ?? [],
    useful_concurrency: useful,
    gpus: Object.fromEntries(
      Object.entries(tally.gpus).map(([gpu, { runs, seconds, costUsd }]) => [
        gpu,
        { runs, seconds, cost_usd: rounded(costUsd) },
      ]),
    ),
    requests: ledger,
    budget: budget && {
      spent_usd: usdOf(budget.spentNano),
      reserved_usd: usdOf(budget.reservedNano),
      is_estimate: budget.isEstimate ?? false,
    },
    ladder: ladder?.map(({ size, gpu, isProven }) => ({ size, gpu, is_proven: isProven })),
    last_failure: lastFailure,
  };
}

export const rounded = (usd: number): number => Number(usd.toFixed(6));
