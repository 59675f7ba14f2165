// What the local run service sends, exactly: the schemas generate its OpenAPI document, and their types check what it writes. The
// other schemas of this folder read any service leniently.

import { z } from 'zod';
import { STATUSES } from './statuses.ts';

/** The read-only type of an answer that the schema allows. */
export type Shown<Schema extends z.ZodType> = Frozen<z.output<Schema>>;
type Frozen<Value> = unknown extends Value
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly Frozen<Item>[]
    : Value extends object
      ? { readonly [Key in keyof Value]: Frozen<Value[Key]> }
      : Value;

const uuid = (description: string) => z.guid().meta({ description });
const text = (description: string) => z.string().meta({ description });
const textOrNull = (description: string) => z.string().nullable().meta({ description });
const whole = (description: string) => z.int().nonnegative().meta({ description });
const freeForm = (description: string) => z.record(z.string(), z.unknown()).meta({ description });

/** ISO 8601 in UTC. */
const date = (description: string) => z.iso.datetime().meta({ description });
const dateOrNull = (description: string) => z.iso.datetime().nullable().meta({ description });

/** Seconds with a fraction. */
const secondsOrNull = (description: string) =>
  z
    .number()
    .nullable()
    .meta({ description: `seconds ${description}; null until then` });

export const sentenceShown = z.strictObject({ detail: text('what is wrong, in one sentence') });

export const problemShown = z.strictObject({
  type: text('kind of problem'),
  loc: z
    .array(z.union([z.string(), z.int()]))
    .min(1)
    .meta({ description: 'location of the faulty input: `body`, `path` or `query`, then the way to it' }),
  msg: text('message'),
  input: z.unknown().meta({ description: 'the given value' }),
  ctx: z.record(z.string(), z.unknown()).optional().meta({ description: 'the values in the message' }),
});

export const validationShown = z.strictObject({
  detail: z.array(problemShown).min(1).meta({ description: 'one entry per problem' }),
});

export const v1ErrorShown = z.strictObject({ error: text('what is wrong, in one sentence') });

export const v1NotFoundShown = z.strictObject({
  code: text('the status code'),
  message: text('always `Workflow not found`'),
});

const level = z.enum(['info', 'error', 'webhook']).meta({
  description: '`error` gives the reason of a failure, `webhook` each delivery of the webhook',
});

export const logShown = z.array(
  z.strictObject({
    run_id: uuid('the run that the line belongs to'),
    timestamp: date('when it was written'),
    log: text('the line'),
    user_id: text('the owner of the run'),
    org_id: textOrNull('the organisation of the owner'),
    log_type: level,
  }),
);

/** The data of one event of the stream. */
export const logLineShown = z.strictObject({
  message: text('the line'),
  level,
  timestamp: date('when it was written'),
});

export const uploadShown = z.strictObject({
  message: z.literal('File uploaded successfully'),
  file_id: text('identifier of the file'),
  file_name: text('its original name'),
  file_url: z.url().meta({ description: 'its address, which needs no token; usable as an input' }),
});

export const v1UploadUrlShown = z.strictObject({
  upload_url: z.url().meta({ description: 'the address for one upload, without a token' }),
  file_id: text('identifier of the file'),
  download_url: z.url().meta({ description: 'its download address' }),
});

const status = z.enum(STATUSES).meta({
  description:
    'not-started: waits for a machine; queued: its machine boots; started, running, uploading: running; success, failed, timeout, cancelled: ended (final)',
});

const fileShown = z.strictObject({
  url: z.url().meta({ description: 'the download address; needs no token' }),
  filename: text('unique within its node'),
  type: text('`output`'),
});

export const outputShown = z.strictObject({
  id: uuid('identifier of the output'),
  run_id: uuid('the run that produced it'),
  data: z.record(z.string(), z.array(z.union([fileShown, z.string()]))).meta({
    description: 'files or texts by kind (`images`, `files`, `text`)',
  }),
  node_meta: z.strictObject({
    node_id: text('the node of the workflow'),
    node_class: text('the class of the node'),
  }),
  created_at: date('when the node produced it'),
  updated_at: date('the same'),
  type: z.null(),
  node_id: z.null(),
});

export const runShown = z.strictObject({
  id: uuid('identifier of the run'),
  workflow_version_id: uuid('the version of the workflow that runs'),
  workflow_inputs: freeForm('the inputs exactly as they were queued'),
  workflow_id: uuid('the workflow that runs'),
  workflow_api: freeForm('the workflow itself; empty here'),
  machine_id: uuid('the machine that the deployment belongs to'),
  origin: text('how the run was queued; `api` for every run that Queue Run made'),
  status,
  ended_at: dateOrNull('when it ended; null until then'),
  created_at: date('when it was queued by the client'),
  updated_at: date('when it last changed'),
  queued_at: dateOrNull('when a machine took it; null until then'),
  started_at: dateOrNull('when the machine was ready for it; null until then'),
  gpu_event_id: textOrNull('the container that it runs in; null until it has one'),
  gpu: textOrNull('the GPU that it runs on'),
  machine_version: textOrNull('the version of the machine’s node component, if known'),
  machine_type: textOrNull('the type of the machine'),
  worker_function_call_id: textOrNull(
    'identifier of the call on the executing worker; null until there is one',
  ),
  modal_function_call_id: textOrNull("the same, in the real service's own spelling"),
  user_id: textOrNull('the owner of the token that queued it'),
  org_id: textOrNull('the organisation of the owner'),
  live_status: textOrNull('the current step, such as `Executing KSampler`; remains after the end'),
  progress: z.number().min(0).max(1).meta({ description: 'share of the nodes that have run' }),
  is_realtime: z.boolean().meta({ description: 'always false' }),
  webhook: textOrNull('the webhook target given at queue time'),
  webhook_status: textOrNull('never written by V2: null'),
  webhook_intermediate_status: z.boolean().meta({ description: 'whether the webhook also gets progress' }),
  outputs: z.array(outputShown).meta({ description: 'one element for each node with an output' }),
  number: whole('always 0 in V2'),
  duration: secondsOrNull('from created_at to ended_at'),
  cold_start_duration: secondsOrNull('from queued_at to started_at'),
  cold_start_duration_total: secondsOrNull('from created_at to started_at'),
  run_duration: secondsOrNull('from started_at to ended_at'),
});

/** Everything that the service knows of a run; Get Run leaves the deployment out. */
export type ShownRun = Shown<typeof runShown> & { readonly deployment_id: string };

/** A run in the list of its workflow: inputs and outputs only on request. */
export const listedRunShown = runShown
  .partial({ workflow_inputs: true, outputs: true })
  .extend({ deployment_id: uuid('the deployment that it was queued for') });

/** A row of the light list of a workflow. */
export const lightRowShown = runShown
  .omit({ workflow_inputs: true, workflow_api: true, outputs: true, webhook: true })
  .extend({ deployment_id: uuid('the deployment that it was queued for'), batch_id: z.null() });

export const lightRunShown = runShown
  .pick({
    id: true,
    status: true,
    created_at: true,
    started_at: true,
    ended_at: true,
    workflow_id: true,
    workflow_version_id: true,
    machine_id: true,
    gpu: true,
    origin: true,
    user_id: true,
  })
  .extend({
    deployment_id: uuid('the deployment that it was queued for'),
    duration: textOrNull('seconds from created_at to ended_at, written as text; null until then'),
  });

export const runPageShown = z.strictObject({
  data: z.array(lightRunShown),
  meta: z.strictObject({
    total: whole('how many of your runs the deployment has'),
    limit: whole('as it was asked for'),
    offset: whole('as it was asked for'),
  }),
});

const SINCE_V2 = {
  updated_at: true,
  gpu_event_id: true,
  duration: true,
  cold_start_duration: true,
  cold_start_duration_total: true,
  run_duration: true,
  number: true,
} as const;

/** A run in V1: without V2's fields, and its outputs without their wrapper. */
export const v1RunShown = runShown.omit(SINCE_V2).extend({
  outputs: z.array(outputShown.pick({ data: true })),
  run_log: z.null(),
});

export const queueAnswerShown = z.strictObject({ run_id: uuid('identifier of the new run') });

export const cancelAnswerShown = z.strictObject({
  status: z.literal('success'),
  message: text('`Function cancelled`, also for a run that had already ended'),
});

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

const inputTypeShown = z.strictObject({
  input_id: text('the name of the input'),
  type: text('`string`, `int`, `float`, `bool`, …'),
  class_type: text('the node of the workflow that takes it'),
  required: z.boolean().meta({ description: 'whether every run needs it' }),
  default_value: z.unknown().meta({ description: 'the default value; null if there is none' }),
  min_value: z.number().optional(),
  max_value: z.number().optional(),
  enum_options: z.array(z.string()).optional(),
  fields: z.array(z.string()).optional().meta({ description: 'the fields that it fills, such as `6.text`' }),
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
  consistent: z.boolean().meta({ description: 'true: an accepted run is in every later list' }),
  post_deadline_ms: wait('for which a client should wait for the answer of Queue Run'),
  list_gap_ms: wait('between two readings of a run list'),
  settle_ms: wait('after which a run that is in no list was never created'),
  settle_without_control_ms: wait('of the same, if no other run proves that the list is up to date'),
  poll_interval_ms: wait('between two polls of a run'),
});
