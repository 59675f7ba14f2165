// Deployments, prices and the recommended intervals on the wire. The specification has none of them, so a service may lack each.

import { z } from 'zod';

const text = z.string().nullish();
const number = z.number().nullish();

/** `output`: a file that a run makes; `told`: each run tells its cost at its end. */
export const PRICE_UNITS = ['run', 'second', 'output', 'told'] as const;

/** Bounds of 64 bits, which exceed the precision of a number, say nothing to a client. */
const FAR = 2 ** 63;

const inputTypeWire = z
  .looseObject({
    input_id: z.string(),
    class_type: text,
    type: text,
    /** Only the local run service sends this field; elsewhere an input without a default is required. */
    required: z.boolean().nullish(),
    default_value: z.unknown(),
    min_value: number,
    max_value: number,
    enum_options: z.array(z.string()).nullish(),
    // The next fields describe ComfyUI workflows; only the local run service sends them.
    /** The workflow fields that the input fills, such as `6.text`. */
    fields: z.array(z.string()).nullish(),
    /** Alternative names of the same fields. */
    also: z.array(z.string()).nullish(),
    /** Why the user must choose between the fields. `isChoice`: no answer can be proposed. */
    ask: z.looseObject({ why: z.string(), isChoice: z.boolean().default(false) }).nullish(),
    /** The last word of the field's name, if no other node has a field with it. */
    word: text,
    /** Whether the field reaches no output. */
    idle: z.boolean().nullish(),
    /** The node of the first field. */
    node: z.looseObject({ class: z.string(), title: text }).nullish(),
  })
  .transform((wire) => ({
    name: wire.input_id,
    /** The service's name of the type (`string`, `integer`, …), unchanged. */
    type: wire.type ?? wire.class_type ?? 'string',
    required: wire.required ?? (wire.default_value === undefined || wire.default_value === null),
    ...(wire.default_value === undefined || wire.default_value === null
      ? {}
      : { default: wire.default_value }),
    ...(wire.min_value == null || wire.min_value <= -FAR ? {} : { min: wire.min_value }),
    ...(wire.max_value == null || wire.max_value >= FAR ? {} : { max: wire.max_value }),
    ...(wire.enum_options == null ? {} : { options: wire.enum_options }),
    ...(wire.fields == null ? {} : { fields: wire.fields }),
    ...(wire.also == null ? {} : { also: wire.also }),
    ...(wire.ask == null ? {} : { ask: { why: wire.ask.why, isChoice: wire.ask.isChoice } }),
    ...(wire.word == null ? {} : { word: wire.word }),
    ...(wire.idle === true ? { isIdle: true as const } : {}),
    ...(wire.node == null ? {} : { node: { class: wire.node.class, title: wire.node.title ?? undefined } }),
  }));
export type InputType = z.infer<typeof inputTypeWire>;

export const deploymentSchema = z
  .looseObject({
    id: z.string(),
    name: text,
    workflow_id: text,
    workflow_version_id: text,
    workflow: z.looseObject({ name: text }).nullish(),
    gpu: text,
    concurrency_limit: number,
    run_timeout: number,
    input_types: z.array(inputTypeWire).nullish(),
    /** Only the run service of this package sends this list of the user's GPU servers. */
    servers: z.array(z.looseObject({ url: z.string(), gpu: text })).nullish(),
    /** US dollars of a run, whatever it takes; `told`: each run tells its cost at its end. */
    run_price: z
      .union([z.number().nonnegative(), z.literal('told')])
      .nullish()
      .catch(undefined),
    price: z
      .looseObject({ per: z.enum(PRICE_UNITS), usd: number })
      .nullish()
      .catch(undefined),
  })
  .transform((wire) => ({
    id: wire.id,
    name: wire.name ?? wire.workflow?.name ?? undefined,
    workflowId: wire.workflow_id ?? undefined,
    versionId: wire.workflow_version_id ?? undefined,
    gpu: wire.gpu ?? undefined,
    concurrencyLimit: wire.concurrency_limit ?? undefined,
    runTimeoutSeconds: wire.run_timeout ?? undefined,
    inputTypes: wire.input_types ?? undefined,
    servers: wire.servers?.map(({ url, gpu }) => ({ url, gpu: gpu ?? undefined })),
    runPrice: wire.run_price ?? undefined,
    price: wire.price ? { per: wire.price.per, usd: wire.price.usd ?? undefined } : undefined,
  }));
export type Deployment = z.infer<typeof deploymentSchema>;
export const deploymentListSchema = z.array(deploymentSchema);

/** Far above the price of any machine per second. */
const MAX_PRICE = 100;

/** US dollars per second by GPU. */
export const pricingSchema = z.record(z.string(), z.number().nonnegative().max(MAX_PRICE));

/** A profile with waits of more than a day is invalid. */
const wait = z.number().nonnegative().max(86_400_000);

/** A service's recommended intervals, in milliseconds; only the local run service publishes them. */
export const profileSchema = z
  .looseObject({
    /** Identifies the service, which may have several addresses. */
    id: z.string().min(1).max(200).nullish(),
    rehearsal: z.boolean().default(false),
    /** Whether every accepted run is in all later lists, so that a short wait proves that a run does not exist. */
    consistent: z.boolean().default(false),
    post_deadline_ms: wait.min(100),
    list_gap_ms: wait,
    settle_ms: wait,
    settle_without_control_ms: wait,
    poll_interval_ms: wait.min(1),
  })
  .transform((wire) => ({
    id: wire.id ?? undefined,
    rehearsal: wire.rehearsal,
    consistent: wire.consistent,
    postDeadlineMs: wire.post_deadline_ms,
    listGapMs: wire.list_gap_ms,
    settleMs: wire.settle_ms,
    settleWithoutControlMs: wire.settle_without_control_ms,
    pollIntervalMs: wire.poll_interval_ms,
  }));
export type Profile = z.infer<typeof profileSchema>;
