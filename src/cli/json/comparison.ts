// A comparison of two batches as JSON.

import { z } from 'zod';
import { amount, count } from './shape.ts';

const sides = <S extends z.ZodType>(schema: S) => z.object({ a: schema, b: schema });

const comparedRowSchema = z.object({
  row: count,
  outcome: z.string().describe('open: it has none yet'),
  gpu: z.string().nullable(),
  attempts: count,
  run_seconds: amount.nullable().describe('of the last run'),
  cost_usd: amount.describe('of all attempts'),
  files: z.array(z.object({ path: z.string(), sha256: z.string() })),
});

export const comparisonSchema = z.object({
  a: z.string(),
  b: z.string(),
  by: z.enum(['key', 'inputs']),
  page: z.string(),
  pairs: count,
  identical: count.describe('pairs with the same files and texts'),
  outcome_differs: count,
  only: sides(count).describe('rows without a partner'),
  verdict: z.string().nullable(),
  succeeded: count.describe('pairs that succeeded in both'),
  reused: sides(count).describe('those of them whose result another batch bought'),
  measured: count.describe('those of them with times in both; the following sums are about them'),
  run_seconds: sides(amount),
  cost_usd: sides(amount),
  speed_ratio: amount.nullable().describe('run seconds of a by those of b: above 1, b is faster'),
  cost_ratio: amount.nullable().describe('cost of b by that of a: above 1, b is dearer'),
  gpu: sides(z.string().nullable()).describe('of all measured pairs, if it is the same one'),
  most_changed: z
    .array(
      z.object({
        key: z.string(),
        identical: z.boolean(),
        changes: z.array(z.object({ input: z.string(), a: z.string().nullable(), b: z.string().nullable() })),
        a: comparedRowSchema,
        b: comparedRowSchema,
      }),
    )
    .describe('at most ten'),
});
