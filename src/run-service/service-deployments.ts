// The deployments of the service: the format of a deployments file, and the two default deployments.

import { usdOf } from '../options/text/printed-numbers.ts';
import { z } from 'zod';
import { parseExactly } from '../host/formats/exact-json.ts';
import { GPUS, type Gpu } from '../options/facts/gpu.ts';
import { nearest, problem, errorMessage } from '../errors/error.ts';
import { namedModel, type NamedModel } from '../host/settings/named-model.ts';
import { ENVIRONMENT } from '../service-client/contract/paths.ts';
import type { deploymentShown, AnswerOf } from '../service-client/contract/shown.ts';
import type { Price } from './executors/vendor-price.ts';
import { idsOf, uuidOf } from './identity.ts';

const seconds = z.number().nonnegative();
const secondsByGpu = z.object({ default: seconds, ...byGpu(() => seconds.optional()) }).strict();

const inputTypeSchema = z
  .object({
    name: z.string().min(1),
    type: z.string().min(1),
    required: z.boolean().default(false),
    default: z.unknown().optional(),
    min: z.number().optional(),
    max: z.number().optional(),
    options: z.array(z.string()).optional(),
    /** The workflow fields that this input fills, such as `6.text`. */
    fields: z.array(z.string()).optional(),
    also: z.array(z.string()).optional(),
    ask: z.strictObject({ why: z.string(), isChoice: z.boolean() }).optional(),
    word: z.string().optional(),
    isIdle: z.literal(true).optional(),
    node: z.strictObject({ class: z.string(), title: z.string().optional() }).optional(),
  })
  .strict();

/** A deployment of a deployments file. All durations are those of the real service, before they are divided by `speed`. */
export const deploymentSpecSchema = z
  .object({
    name: z.string().min(1),
    id: z.uuid().optional(),
    gpu: z.enum(GPUS).default('A10G'),
    concurrencyLimit: z.int().positive().default(2),
    runTimeoutSeconds: z.number().positive().default(300),
    coldStartSeconds: seconds.default(7.8),
    /** The time from `queued` to `started` in a warm container. */
    warmStartSeconds: seconds.default(0.01),
    idleTimeoutSeconds: seconds.default(60),
    runSeconds: z.union([seconds, secondsByGpu]).default(6),
    /** 0.2 makes run times vary by up to 20 % in both directions, depending on the run number. */
    runSpread: z.number().min(0).max(1).default(0),
    inputTypes: z.array(inputTypeSchema).optional(),
    /** The version of the node component on the machines; null hides it. */
    machineVersion: z.string().min(1).nullable().default('v2.3.10'),
    /** The machine type; null hides it from the runs. */
    machineType: z.string().min(1).nullable().default('comfy-deploy-serverless'),
    /** GPU memory in GB that a run needs; it fails on a smaller GPU. */
    vramGb: z.number().nonnegative().default(0),
    /** Additional GPU memory in GB per million pixels: inputs `width` × `height` × `batch_size`. */
    vramGbPerMegapixel: z.number().nonnegative().default(0),
    outputs: z.int().min(0).max(100).default(1),
    /** The edge length of a picture in pixels. */
    pictureSize: z.int().min(16).max(2048).default(160),
  })
  .strict()
  .transform((spec) => ({ ...spec, id: (spec.id ?? uuidOf('deployment', spec.name)).toLowerCase() }));
export type DeploymentSpec = Readonly<z.output<typeof deploymentSpecSchema>>;

/** A deployment, simulated or real, as the service shows it. */
export type Deployment = Pick<
  DeploymentSpec,
  'id' | 'name' | 'concurrencyLimit' | 'runTimeoutSeconds' | 'inputTypes' | 'machineVersion' | 'machineType'
> & {
  readonly gpu: string;
  /** The user's servers that may execute runs of this deployment. */
  readonly servers?: readonly { readonly url: string; readonly gpu: string | null }[];
  /** Whether the user's own GPUs execute the runs. */
  readonly isReal?: true;
  /** Whether a vendor bills the runs, at a price that may not be known here. */
  readonly isBilled?: true;
  readonly price?: Price | undefined;
};

function byGpu<V>(value: (gpu: Gpu) => V): Record<Gpu, V> {
  return Object.fromEntries(GPUS.map((gpu) => [gpu, value(gpu)])) as Record<Gpu, V>;
}

/** The default deployments of `runsheet service` without a deployments file. */
export const DEMO_DEPLOYMENTS: readonly DeploymentSpec[] = [
  deploymentSpecSchema.parse({
    name: 'portraits',
    concurrencyLimit: 4,
    coldStartSeconds: 5,
    runSeconds: { default: 6, T4: 12, L4: 8, L40S: 4, A100: 3.2, 'A100-80GB': 3, H100: 2 },
    runSpread: 0.2,
    inputTypes: [
      { name: 'number', type: 'int' },
      { name: 'prompt', type: 'string', required: true },
      { name: 'seed', type: 'int' },
      { name: 'steps', type: 'int', default: 20, min: 1, max: 150 },
    ],
  }),
  deploymentSpecSchema.parse({ name: 'anything', runSpread: 0.2 }),
];

/** A deployment on the user's own GPUs; `workflow` is a file. */
const workflowSpecSchema = z.strictObject({
  name: z.string().min(1).max(100),
  workflow: z.string().min(1),
  /** Names for inputs: `{ "prompt": ["6.text"] }`. */
  inputs: z.record(z.string(), z.array(z.string()).min(1)).optional(),
  runTimeoutSeconds: z.number().positive().optional(),
});

/** A program on GPUs of this machine; `program` is its command, `inputs` a JSON Schema file. */
const programSpecSchema = z.strictObject({
  name: z.string().min(1).max(100),
  program: z.string().min(1),
  /** Whether a process stays for one run after another. */
  stays: z.boolean().optional(),
  inputs: z.string().min(1).optional(),
  /** Default: all that nvidia-smi lists, else GPU 0. */
  gpus: z.array(z.int().min(0).max(999)).min(1).optional(),
  /** Names of variables that the program gets and that are not stored. */
  env: z.array(z.string().regex(/^[A-Za-z_]\w*$/)).optional(),
  runTimeoutSeconds: z.number().positive().optional(),
});

/** A model at a vendor; `model` names it as `--model` does, `inputs` is a JSON Schema file. */
const modelSpecSchema = z.strictObject({
  name: z.string().min(1).max(100),
  model: z.string().min(1).max(300),
  /** Default: as the vendor describes them. */
  inputs: z.string().min(1).optional(),
  /** A file with the key alone (default: the variable of the vendor). */
  keyFile: z.string().min(1).optional(),
  runTimeoutSeconds: z.number().positive().optional(),
});

/** A workflow in a container of ComfyUI at a vendor, which `model` names: `runpod:abc123`. */
const containerSpecSchema = workflowSpecSchema.extend(
  modelSpecSchema.pick({ model: true, keyFile: true }).shape,
);

const SCHEMAS = {
  container: containerSpecSchema,
  program: programSpecSchema,
  workflow: workflowSpecSchema,
  model: modelSpecSchema,
  simulated: deploymentSpecSchema,
} as const;
const FIELDS: Readonly<Record<keyof typeof SCHEMAS, readonly string[]>> = {
  container: Object.keys(containerSpecSchema.shape),
  program: Object.keys(programSpecSchema.shape),
  workflow: Object.keys(workflowSpecSchema.shape),
  model: Object.keys(modelSpecSchema.shape),
  simulated: Object.keys(deploymentSpecSchema.in.shape),
};

function kindOf(entry: unknown): keyof typeof SCHEMAS {
  if (typeof entry !== 'object' || entry === null) return 'simulated';
  if ('model' in entry && 'workflow' in entry) return 'container';
  return (['program', 'workflow', 'model'] as const).find((kind) => kind in entry) ?? 'simulated';
}

const entriesSchema = z
  .array(
    z.unknown().transform((entry, context) => {
      const kind = kindOf(entry);
      const read = SCHEMAS[kind].safeParse(entry);
      if (read.success) return read.data;
      for (const issue of read.error.issues)
        context.issues.push({
          code: 'custom',
          message: wordsOf(issue, kind),
          path: issue.path,
          input: entry,
        });
      return z.NEVER;
    }),
  )
  .min(1);

/** The words of an issue, with the field that an unknown one is probably meant to be. */
function wordsOf(issue: z.core.$ZodIssue, kind: keyof typeof SCHEMAS): string {
  if (issue.code !== 'unrecognized_keys' || issue.path.length > 0) return issue.message;
  // An entry without a field of another kind may have meant any kind.
  const fields = kind === 'simulated' ? Object.values(FIELDS).flat() : FIELDS[kind];
  const near = issue.keys.flatMap((key) => nearest(key, fields) ?? []);
  return `${issue.message}${near.length === 0 ? '' : ` (did you mean ${near.join(', ')}?)`}`;
}

export type DeploymentsFile = {
  readonly simulated: readonly DeploymentSpec[];
  readonly workflows: readonly z.output<typeof workflowSpecSchema>[];
  readonly programs: readonly z.output<typeof programSpecSchema>[];
  readonly models: readonly ((z.output<typeof modelSpecSchema> | z.output<typeof containerSpecSchema>) &
    NamedModel)[];
};

/** Reads a deployments file, a JSON array. Throws E602 with the invalid entry and its problem. */
export function readDeployments(fileText: string): DeploymentsFile {
  const read = entriesSchema.safeParse(jsonOf(fileText));
  if (!read.success) {
    throw problem('E602', {
      what: `the deployments file is invalid: ${read.error.issues.map(placed).join('; ')}`,
      hint: `fields: ${FIELDS.simulated.join(', ')}; only name is required; or, on your own GPUs: ${FIELDS.workflow.join(', ')}; or, for a program: ${FIELDS.program.join(', ')}; or, for a model of a vendor: ${FIELDS.model.join(', ')}, with the price within model: "0.025/run=fal:fal-ai/flux/dev"; or, for a workflow in a container at RunPod: ${FIELDS.container.join(', ')}`,
    });
  }
  const models = read.data.flatMap((entry, at) =>
    'model' in entry ? [{ ...entry, ...namedModel(entry.model, modelAt(at)) }] : [],
  );
  refuseRepeats(read.data);
  refuseRepeatedModel(models);
  return {
    simulated: read.data.flatMap((entry) =>
      'workflow' in entry || 'program' in entry || 'model' in entry ? [] : [entry],
    ),
    workflows: read.data.flatMap((entry) => ('workflow' in entry && !('model' in entry) ? [entry] : [])),
    programs: read.data.flatMap((entry) => ('program' in entry ? [entry] : [])),
    models,
  };
}

const modelAt = (at: number) => ({
  place: `entry ${at + 1} model`,
  write: (name: string): string => `"model": "${name}"`,
});

/** A model, or a workflow at it, is one deployment, with one name, price and time limit. */
function refuseRepeatedModel(models: DeploymentsFile['models']): void {
  const fileOf = (entry: (typeof models)[number]) => ('workflow' in entry ? entry.workflow : undefined);
  for (const [at, named] of models.entries()) {
    const { name, vendor, model } = named;
    const before = models
      .slice(0, at)
      .find((entry) => entry.vendor === vendor && entry.model === model && fileOf(entry) === fileOf(named));
    if (before !== undefined)
      throw problem('E602', {
        what: `the deployments ${before.name} and ${name} are the same model, ${vendor}:${model}`,
      });
  }
}

function jsonOf(text: string): unknown {
  try {
    return parseExactly(text);
  } catch (cause) {
    throw problem('E602', { what: `the deployments file is not JSON: ${errorMessage(cause)}` }, { cause });
  }
}

/** `[1].runSeconds: Invalid input`, entries counted from 1. */
function placed(issue: z.core.$ZodIssue): string {
  const [entry, ...path] = issue.path;
  const place = entry === undefined ? 'it' : ['entry', Number(entry) + 1, path.join('.')].join(' ').trim();
  return `${place}: ${issue.message}`;
}

/** Throws E602 if two deployments have the same name or id. */
export function refuseRepeats(specs: readonly { readonly name: string; readonly id?: string }[]): void {
  for (const field of ['name', 'id'] as const) {
    const values = specs.flatMap((spec) => spec[field] ?? []);
    const twice = values.find((value, index) => values.indexOf(value) < index);
    if (twice !== undefined) throw problem('E602', { what: `two deployments have the ${field} "${twice}"` });
  }
}

/** The duration of a run on `gpu` in seconds, before spread and speed. */
export function runSecondsOn(spec: DeploymentSpec, gpu: string): number {
  const { runSeconds } = spec;
  if (typeof runSeconds === 'number') return runSeconds;
  return (runSeconds as Readonly<Record<string, number | undefined>>)[gpu] ?? runSeconds.default;
}

const NODE_OF: Readonly<Record<string, string>> = {
  int: 'ComfyUIDeployExternalNumberInt',
  integer: 'ComfyUIDeployExternalNumberInt',
  float: 'ComfyUIDeployExternalNumber',
  number: 'ComfyUIDeployExternalNumber',
  bool: 'ComfyUIDeployExternalBoolean',
  boolean: 'ComfyUIDeployExternalBoolean',
  image: 'ComfyUIDeployExternalImage',
};

// Deployments from a file have no creation date, but clients expect one.
const MADE = '2026-01-01T00:00:00.000000Z';

/** `run_price`: the part of the price that bounds a run. A price of a second is among the prices by GPU. */
function shownPrice(price: Price | undefined): Pick<AnswerOf<typeof deploymentShown>, 'price' | 'run_price'> {
  if (price === undefined) return {};
  const { per } = price;
  if (per === 'told') return { price: { per }, run_price: per };
  const usd = usdOf(price.nano);
  // How many files a run makes is known at its end.
  const runPrice = per === 'run' ? usd : 'told';
  return { price: { per, usd }, ...(per !== 'second' && { run_price: runPrice }) };
}

/** A deployment as lists show it. `owner` is the caller, because local deployments belong to every user. */
export function shownDeployment(spec: Deployment, owner: string): AnswerOf<typeof deploymentShown> {
  const { id, name } = spec;
  const { workflowId, versionId, machineId } = idsOf(id);
  return {
    id,
    name,
    user_id: owner,
    org_id: null,
    workflow_id: workflowId,
    workflow_version_id: versionId,
    machine_id: machineId,
    workflow: { id: workflowId, name },
    environment: ENVIRONMENT,
    description: null,
    share_slug: null,
    share_options: null,
    showcase_media: null,
    created_at: MADE,
    updated_at: MADE,
    gpu: spec.gpu,
    concurrency_limit: spec.concurrencyLimit,
    run_timeout: spec.runTimeoutSeconds,
    ...(spec.servers && { servers: [...spec.servers] }),
    ...shownPrice(spec.price),
    input_types:
      spec.inputTypes?.map((input) => ({
        input_id: input.name,
        type: input.type,
        class_type: NODE_OF[input.type] ?? 'ComfyUIDeployExternalText',
        required: input.required,
        default_value: input.default ?? null,
        min_value: input.min,
        max_value: input.max,
        enum_options: input.options,
        fields: input.fields,
        also: input.also,
        ask: input.ask,
        word: input.word,
        idle: input.isIdle,
        node: input.node,
      })) ?? null,
  };
}
