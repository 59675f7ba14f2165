// The exact schemas of the local run service's answers: types check what it writes, and tests parse its answers. The other
// schemas of this folder read any service leniently.

import { z } from 'zod';
import { PRICE_UNITS } from './deployment.ts';
import { STATUSES } from './statuses.ts';

/** The read-only type of an answer that the schema allows. */
export type AnswerOf<Schema extends z.ZodType> = Frozen<z.output<Schema>>;
type Frozen<Value> = unknown extends Value
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly Frozen<Item>[]
    : Value extends object
      ? { readonly [Key in keyof Value]: Frozen<Value[Key]> }
      : Value;

const uuid = z.guid();
const text = z.string();
const whole = z.int().nonnegative();
const freeForm = z.record(z.string(), z.unknown());
/** ISO 8601 in UTC. */
const date = z.iso.datetime();

export const sentenceShown = z.strictObject({ detail: text });

export const problemShown = z.strictObject({
  type: text,
  loc: z.array(z.union([z.string(), z.int()])).min(1),
  msg: text,
  input: z.unknown(),
  ctx: z.record(z.string(), z.unknown()).optional(),
});

export const validationShown = z.strictObject({ detail: z.array(problemShown).min(1) });

const level = z.enum(['info', 'error', 'webhook']);

export const logShown = z.array(
  z.strictObject({
    run_id: uuid,
    timestamp: date,
    log: text,
    user_id: text,
    org_id: text.nullable(),
    log_type: level,
  }),
);

/** The data of an event of the stream. */
export const logLineShown = z.strictObject({ message: text, level, timestamp: date });

export const uploadShown = z.strictObject({
  message: z.literal('File uploaded successfully'),
  file_id: text,
  file_name: text,
  file_url: z.url(),
});

export const v1UploadUrlShown = z.strictObject({ upload_url: z.url(), file_id: text, download_url: z.url() });

const status = z.enum(STATUSES);

const fileShown = z.strictObject({ url: z.url(), filename: text, type: text });

export const outputShown = z.strictObject({
  id: uuid,
  run_id: uuid,
  data: z.record(z.string(), z.array(z.union([fileShown, z.string()]))),
  /** `node_title` is present only if the workflow's owner titled the node. */
  node_meta: z.strictObject({ node_id: text, node_class: text, node_title: text.optional() }),
  created_at: date,
  updated_at: date,
  type: z.null(),
  node_id: z.null(),
});

export const runShown = z.strictObject({
  id: uuid,
  workflow_version_id: uuid,
  workflow_inputs: freeForm,
  workflow_id: uuid,
  workflow_api: freeForm,
  machine_id: uuid,
  origin: text,
  status,
  ended_at: date.nullable(),
  created_at: date,
  updated_at: date,
  /** When a machine took the run; started_at is when that machine was ready. */
  queued_at: date.nullable(),
  started_at: date.nullable(),
  gpu_event_id: text.nullable(),
  gpu: text.nullable(),
  machine_version: text.nullable(),
  machine_type: text.nullable(),
  worker_function_call_id: text.nullable(),
  modal_function_call_id: text.nullable(),
  user_id: text.nullable(),
  org_id: text.nullable(),
  /** The current step, such as `Executing KSampler`; remains after the end. */
  live_status: text.nullable(),
  /** The share of the nodes that have been executed. */
  progress: z.number().min(0).max(1),
  is_realtime: z.boolean(),
  webhook: text.nullable(),
  webhook_status: text.nullable(),
  webhook_intermediate_status: z.boolean(),
  outputs: z.array(outputShown),
  number: whole,
  /** From created_at to ended_at, in seconds. */
  duration: z.number().nullable(),
  /** From queued_at to started_at, in total from created_at. */
  cold_start_duration: z.number().nullable(),
  cold_start_duration_total: z.number().nullable(),
  run_duration: z.number().nullable(),
  /** How often a machine was lost while it executed the run, which was then executed again; absent means never. */
  lost_executions: z.int().positive().optional(),
  /** The seconds of the lost executions, which are in none of the durations above. */
  lost_duration: z.number().nonnegative().optional(),
  /** US dollars that the run cost; absent if it is not known, and where prices by GPU tell. */
  cost_usd: z.number().nonnegative().optional(),
});

/** Everything that the service knows about a run; Get Run leaves the deployment out. */
export type ShownRun = AnswerOf<typeof runShown> & { readonly deployment_id: string };

/** A run in the list of its workflow. Inputs and outputs appear only on request. */
export const listedRunShown = runShown
  .partial({ workflow_inputs: true, outputs: true })
  .extend({ deployment_id: uuid });

/** A row of the light list of a workflow. */
export const lightRowShown = runShown
  .omit({
    workflow_inputs: true,
    workflow_api: true,
    outputs: true,
    webhook: true,
    lost_executions: true,
    lost_duration: true,
    cost_usd: true,
  })
  .extend({ deployment_id: uuid, batch_id: z.null() });

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
  .extend({ deployment_id: uuid, duration: text.nullable() });

export const runPageShown = z.strictObject({
  data: z.array(lightRunShown),
  meta: z.strictObject({ total: whole, limit: whole, offset: whole }),
});

const SINCE_V2 = {
  updated_at: true,
  gpu_event_id: true,
  duration: true,
  cold_start_duration: true,
  cold_start_duration_total: true,
  run_duration: true,
  number: true,
  lost_executions: true,
  lost_duration: true,
  cost_usd: true,
} as const;

/** A run in V1: without V2's fields, and its outputs without their wrapper. */
export const v1RunShown = runShown.omit(SINCE_V2).extend({
  outputs: z.array(outputShown.pick({ data: true })),
  run_log: z.null(),
});

export const webhookShown = z.strictObject({
  event_type: z.enum(['run.updated', 'run.output']),
  status: runShown.shape.status,
  live_status: runShown.shape.live_status,
  progress: runShown.shape.progress,
  run_id: uuid,
  outputs: z.array(outputShown),
});

const inputTypeShown = z.strictObject({
  input_id: text,
  type: text,
  class_type: text,
  required: z.boolean(),
  default_value: z.unknown(),
  min_value: z.number().optional(),
  max_value: z.number().optional(),
  enum_options: z.array(z.string()).optional(),
  also: z.array(z.string()).optional(),
  ask: z.strictObject({ why: z.string(), isChoice: z.boolean() }).optional(),
  word: z.string().optional(),
  idle: z.literal(true).optional(),
  node: z.strictObject({ class: z.string(), title: z.string().optional() }).optional(),
  /** The workflow fields that the input fills, such as `6.text`. */
  fields: z.array(z.string()).optional(),
});

export const deploymentShown = z.strictObject({
  id: uuid,
  name: text,
  user_id: text,
  org_id: text.nullable(),
  workflow_id: uuid,
  workflow_version_id: uuid,
  machine_id: uuid,
  workflow: z.strictObject({ id: uuid, name: text }),
  environment: z.literal('production'),
  description: text.nullable(),
  share_slug: text.nullable(),
  share_options: z.null(),
  showcase_media: z.null(),
  created_at: date,
  updated_at: date,
  gpu: text.nullable(),
  concurrency_limit: whole,
  /** Seconds from queued_at. */
  run_timeout: z.number().positive(),
  /** null if the deployment accepts any inputs. */
  input_types: z.array(inputTypeShown).nullable(),
  /** The user's servers that may execute the runs. */
  servers: z.array(z.strictObject({ url: text, gpu: text.nullable() })).optional(),
  /** US dollars of a run, whatever it takes; `told`: each run tells its cost at its end. */
  run_price: z.union([z.number().nonnegative(), z.literal('told')]).optional(),
  /** US dollars of a run, of a second of it, or of a file that it makes; absent if nobody has stated a price. */
  price: z.strictObject({ per: z.enum(PRICE_UNITS), usd: z.number().nonnegative().optional() }).optional(),
});

const wait = z.number().nonnegative();

export const profileShown = z.strictObject({
  /** Identifies the service, which may have several addresses. */
  id: z.string(),
  /** Whether runs here cost nothing. */
  rehearsal: z.boolean(),
  /** Whether an accepted run is in every later list. */
  consistent: z.boolean(),
  post_deadline_ms: wait,
  list_gap_ms: wait,
  /** The wait after which a run that is in no list was never created; without_control: if no other run shows that the list is recent. */
  settle_ms: wait,
  settle_without_control_ms: wait,
  poll_interval_ms: wait,
});
