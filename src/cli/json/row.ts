// A row, an attempt of a row and an event of a batch as JSON. The field names are those of results.jsonl and events.jsonl.

import { z } from 'zod';
import { OUTCOMES } from '../../batch/outcome.ts';
import type { RowRecord } from '../../results/row-record.ts';
import { amount, count, shaped, time, changesOf, limitsSchema } from './shape.ts';
import { PAUSE_KINDS } from '../../batch/pausing/pause-kinds.ts';
import type { ShownEvent } from '../../library/handle/event-reader.ts';

const attempt = {
  attempt: count,
  outcome: z.string().describe('an outcome, or absent: it was proved that it started no run'),
  reason: z.string().nullable(),
  failure: z.string().nullable().describe('the kind of failure, if the log of the run shows it'),
  run_id: z.string().nullable(),
  gpu_asked: z.string().nullable(),
  gpu_used: z.string().nullable(),
  climbed: z.boolean().nullable(),
  created_at: time.nullable(),
  ended_at: time.nullable(),
  queue_seconds: amount.nullable(),
  cold_start_seconds: amount.nullable(),
  run_seconds: amount.nullable(),
  cost_usd: amount.nullable(),
  cost_incomplete: z.boolean().nullable(),
};

export const rowSchema = z.object({
  row: count,
  key: z.string(),
  outcome: z.enum([...OUTCOMES, 'open']).describe('open: it has none yet'),
  reason: z.string().nullable(),
  gpu_asked: z.string().nullable(),
  inputs: z.record(z.string(), z.unknown()),
  attempts: z.array(z.object(attempt)),
  result_attempt: count
    .nullable()
    .describe('the attempt that the result comes from, if later ones did not replace it'),
  files: z.array(
    z.object({
      path: z.string().describe('relative to the folder of the batch'),
      bytes: count,
      sha256: z.string(),
      name: z.string(),
      node: z.string().nullable(),
    }),
  ),
  texts: z.array(z.string()),
  reused_from: z.string().nullable().describe('<batch>#<row> that bought it'),
});

export type ShownRow = Omit<RowRecord, 'outcome'> & { readonly outcome: RowRecord['outcome'] | 'open' };

export const rowJson = (row: ShownRow): z.infer<typeof rowSchema> =>
  shaped(rowSchema, {
    ...row,
    reason: row.reason === '' ? null : row.reason,
    texts: row.texts ?? [],
  });

export const attemptSchema = z.object({
  at: time.nullable().describe('when it ended'),
  event: z.literal('attempt'),
  row: count,
  started_at: time.nullable().describe('when its machine began with it'),
  ...attempt,
});

export const eventSchema = z.object({
  at: time,
  event: z.string().describe('created, started, paused, continued, resumed, scaled, …, finished'),
  kind: z.enum(PAUSE_KINDS).nullable().describe('the kind of the pause'),
  by: z.string().nullable().describe('who gave the command'),
  reason: z.string().nullable(),
  note: z.string().nullable().describe('what changed, in words'),
  limits: limitsSchema.partial().nullable().describe('the limits that changed; null removes one'),
});

export const eventJson = ({ limits, ...event }: ShownEvent): z.infer<typeof eventSchema> =>
  shaped(eventSchema, { ...event, limits: limits && changesOf(limits) });
