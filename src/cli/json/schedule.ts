// The schemas of a schedule and of what `schedule trigger` started; schedule-text.ts makes the document of a schedule.

import { z } from 'zod';
import { outcomesSchema } from './batch.ts';
import { amount, count, time } from './shape.ts';

export const scheduleSchema = z.object({
  schedule: z.string(),
  cron: z.string(),
  words: z.string().describe('the rule in words'),
  timezone: z.string(),
  state: z.enum(['active', 'paused']),
  note: z.string().nullable().describe('why it is paused'),
  next: z.array(time),
  clock_changes: z.array(z.string()),
  sheet: z.string(),
  deployment: z.string(),
  out: z.string(),
  overlap: z.enum(['skip', 'buffer', 'cancel']),
  catchup_seconds: amount,
  reuse: z.boolean(),
  fired: count,
  skipped: count,
  missed: count,
  firings: z.array(
    z.object({
      time,
      started_at: time,
      batch: z.string(),
      state: z.enum(['running', 'done', 'failed', 'cancelled', 'unknown']),
      reason: z.string().nullable(),
      rows: count.nullable(),
      reused: count.nullable(),
      outcomes: outcomesSchema.nullable(),
      cost_usd: amount.nullable(),
    }),
  ),
  how: z
    .enum(['created', 'changed', 'unchanged'])
    .nullable()
    .describe('what schedule create did; null from other commands'),
});

export const triggerSchema = z.object({ schedule: z.string(), batches: z.array(z.string()) });

export const appliedSchema = z.object({
  schedules: z.array(
    z.object({
      schedule: z.string(),
      how: z.enum(['created', 'changed', 'unchanged', 'deleted', 'left']),
      changes: z.array(z.string()),
    }),
  ),
});
