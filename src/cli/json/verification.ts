// What verify found, and a receipt, as JSON.

import { z } from 'zod';
import { outcomesSchema } from './batch.ts';
import { amount, count, shaped, type Given } from './shape.ts';

const shares = { rows: amount, cancelled: amount, duplicates: amount };

export const receiptSchema = z.object({
  file: z.string(),
  batch: z.string(),
  holds: z.boolean(),
  lines: count,
  sha256: z.string(),
  total: z
    .object({
      rows: count,
      outcomes: outcomesSchema,
      runs: count,
      bought_twice: count,
      late_runs: count,
      unmeasured_runs: count,
      gpu_seconds: z.object(shares),
      cost_usd: z.object({ ...shares, total: amount }),
    })
    .nullable()
    .describe('from --check-receipt'),
});

type Receipt = z.infer<typeof receiptSchema>;

export const receiptJson = (receipt: Given<Receipt>): Receipt => shaped(receiptSchema, receipt);

export const verificationSchema = z.object({
  batch: z.string(),
  holds: z.boolean(),
  lists_checked: z.boolean().describe('whether the run list of the service was compared'),
  lists_unread: z.string().nullable().describe('why the run list of the service could not be read'),
  findings: z.array(z.object({ claim: z.string(), holds: z.boolean(), message: z.string() })),
  receipt: receiptSchema.nullable(),
});

type Verification = z.infer<typeof verificationSchema>;

export const verificationJson = (verification: Given<Verification>): Verification =>
  shaped(verificationSchema, verification);
