// The schema of a replay (`plan --what-if`); what-if-text.ts makes the document.

import { z } from 'zod';
import { amount, count } from './shape.ts';

const figures = {
  seconds: amount,
  cost_usd: amount,
  runs: amount,
  failed_rows: amount,
  most_running: amount,
  busy: amount.describe('the share of the time in which the machines were busy'),
  queue_seconds: amount.describe('how long a run waited for a machine on average'),
};

const interval = z.object({ low: amount, expected: amount.nullable(), high: amount });

export const replaySchema = z.object({
  batch: z.string(),
  rows: count,
  replayed_rows: count,
  change: z.object({
    concurrency: count.nullable(),
    retries: count.nullable(),
    retries_by_kind: z.record(z.string(), count).nullable(),
    starts_per_minute: z.union([count, z.literal('none')]).nullable(),
    gpu_concurrency: z.union([z.record(z.string(), count), z.literal('none')]).nullable(),
    gpu: z.string().nullable(),
  }),
  was: z.object(figures),
  replayed: z.object(figures),
  what_if: z.object({
    seconds: interval,
    cost_usd: interval,
    runs: interval,
    failed_rows: interval,
    most_running: interval,
    busy: interval,
    queue_seconds: interval,
  }),
  machines: z.object({ at_least: count, at_most: count.nullable(), source: z.string() }),
  gpus: z.array(
    z.object({
      from: z.string(),
      to: z.string(),
      low: amount,
      expected: amount.nullable(),
      high: amount,
      runs: count,
    }),
  ),
  start_latency_seconds: amount.nullable(),
  enough_slots: count.nullable(),
  curve: z.array(z.object({ concurrency: count, ...figures })),
  notes: z.array(z.string()),
});
