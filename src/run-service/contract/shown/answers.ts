// The exact schemas of everything except runs: short answers, webhooks, deployments, prices, the profile.

import { z } from 'zod';
import { date, text, textOrNull, uuid, whole } from './fields.ts';
import { outputShown, runShown } from './run.ts';

export const queueAnswerShown = z.strictObject({ run_id: uuid('identifier of the new run') });

export const cancelAnswerShown = z.strictObject({
  status: z.literal('success'),
  message: text('`Function cancelled`, also for a run that had already ended'),
});

/** The body of a webhook. */
export const webhookShown = z.strictObject({
  event_type: z.enum(['run.updated', 'run.output']).meta({
    description: '`run.updated` for a change of status or progress, `run.output` for new outputs',
  }),
  status: runShown.shape.status,
  live_status: runShown.shape.live_status,
  progress: runShown.shape.progress,
  run_id: uuid('the run that this is about'),
  outputs: z.array(outputShown).meta({ description: 'empty for progress; never rely on them' }),
});

export const inputTypeShown = z.strictObject({
  input_id: text('the name of the input'),
  type: text('`string`, `int`, `float`, `bool`, …'),
  class_type: text('the node of the workflow that takes it'),
  required: z.boolean().meta({ description: 'whether every run needs it' }),
  default_value: z.unknown().meta({ description: 'the default value; null if there is none' }),
  min_value: z.number().optional(),
  max_value: z.number().optional(),
  enum_options: z.array(z.string()).optional(),
});

export const deploymentShown = z.strictObject({
  id: uuid('identifier of the deployment'),
  name: text('its name'),
  user_id: text('its owner: the caller'),
  org_id: textOrNull('the organization that owns it'),
  workflow_id: uuid('the workflow that it runs'),
  workflow_version_id: uuid('the version of that workflow'),
  machine_id: uuid('the machine that it runs on'),
  workflow: z.strictObject({ id: uuid('the same workflow'), name: text('its name') }),
  environment: z.literal('production'),
  description: textOrNull('always null here'),
  share_slug: textOrNull('always null here'),
  share_options: z.null(),
  showcase_media: z.null(),
  created_at: date('when it was made'),
  updated_at: date('when it was last changed'),
  gpu: textOrNull('the GPU of runs that name none'),
  concurrency_limit: whole('how many of its runs may run at the same time'),
  run_timeout: z
    .number()
    .positive()
    .meta({ description: 'seconds from queued_at after which a run is ended' }),
  input_types: z
    .array(inputTypeShown)
    .nullable()
    .meta({ description: 'the inputs it accepts; null if it accepts any' }),
});

export const pricingShown = z
  .record(z.string(), z.number().nonnegative())
  .meta({ description: 'US dollars per second, by GPU' });

const wait = (description: string) =>
  z
    .number()
    .nonnegative()
    .meta({ description: `milliseconds ${description}` });

export const profileShown = z.strictObject({
  rehearsal: z.boolean().meta({ description: 'true: no GPU is paid for here' }),
  post_deadline_ms: wait('for which a client should wait for the answer of Queue Run'),
  list_gap_ms: wait('between two readings of a run list'),
  settle_ms: wait('after which a run that is in no list was never created'),
  settle_without_control_ms: wait('of the same, if no other run proves that the list is up to date'),
  poll_interval_ms: wait('between two polls of a run'),
});
