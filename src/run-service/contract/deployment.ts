// Deployments and prices on the wire. Neither is part of the specification, so a service may lack both.

import { z } from 'zod';
import type { deploymentShown, inputTypeShown } from './shown/answers.ts';
import type { Shown } from './shown/fields.ts';

const text = z.string().nullish();
const number = z.number().nullish();

const inputTypeWire = z
  .looseObject({
    input_id: z.string(),
    class_type: text,
    type: text,
    /** Only the local run service sends it; elsewhere an input without a default is required. */
    required: z.boolean().nullish(),
    default_value: z.unknown(),
    min_value: number,
    max_value: number,
    enum_options: z.array(z.string()).nullish(),
  })
  .transform((wire) => ({
    name: wire.input_id,
    /** The service's name of the type (`string`, `integer`, …), unchanged. */
    type: wire.type ?? wire.class_type ?? 'string',
    required: wire.required ?? (wire.default_value === undefined || wire.default_value === null),
    ...(wire.default_value === undefined || wire.default_value === null
      ? {}
      : { default: wire.default_value }),
    ...(wire.min_value == null ? {} : { min: wire.min_value }),
    ...(wire.max_value == null ? {} : { max: wire.max_value }),
    ...(wire.enum_options == null ? {} : { options: wire.enum_options }),
  }));
/** One input of a deployment, as far as the service describes it. */
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
  }));
export type Deployment = z.infer<typeof deploymentSchema>;
export const deploymentListSchema = z.array(deploymentSchema);

/** Far above the price of any machine per second. */
const PRICE_MOST = 100;

/** US dollars per second by GPU. */
export const pricingSchema = z.record(z.string(), z.number().nonnegative().max(PRICE_MOST));

/** A deployment as the service lists it. */
export type DeploymentRecord = {
  readonly id: string;
  readonly name: string;
  readonly workflowId: string;
  readonly versionId: string;
  readonly machineId: string;
  readonly gpu: string | null;
  readonly concurrencyLimit: number;
  readonly runTimeoutSeconds: number;
  readonly inputTypes: readonly InputType[] | undefined;
};

/** The node that takes an input of a type. */
const NODE_OF: Readonly<Record<string, string>> = {
  int: 'ComfyUIDeployExternalNumberInt',
  integer: 'ComfyUIDeployExternalNumberInt',
  float: 'ComfyUIDeployExternalNumber',
  number: 'ComfyUIDeployExternalNumber',
  bool: 'ComfyUIDeployExternalBoolean',
  boolean: 'ComfyUIDeployExternalBoolean',
  image: 'ComfyUIDeployExternalImage',
};

/** The only environment: all local deployments are in production. */
const ENVIRONMENT = 'production';

/** The query of the list of deployments. */
export const deploymentsQuerySchema = z
  .object({ environment: z.string().optional() })
  .transform((wire) => ({ isWanted: (wire.environment ?? ENVIRONMENT) === ENVIRONMENT }));

// A deployment from a file has no creation date, but clients expect one.
const MADE = '2026-01-01T00:00:00.000000Z';

const inputTypeToWire = (input: InputType): Shown<typeof inputTypeShown> => ({
  input_id: input.name,
  type: input.type,
  class_type: NODE_OF[input.type] ?? 'ComfyUIDeployExternalText',
  required: input.required,
  default_value: input.default ?? null,
  ...(input.min === undefined ? {} : { min_value: input.min }),
  ...(input.max === undefined ? {} : { max_value: input.max }),
  ...(input.options === undefined ? {} : { enum_options: input.options }),
});

/** `owner` is the caller: local deployments belong to every user. */
export const deploymentToWire = (
  deployment: DeploymentRecord,
  owner: string,
): Shown<typeof deploymentShown> => ({
  id: deployment.id,
  name: deployment.name,
  user_id: owner,
  org_id: null,
  workflow_id: deployment.workflowId,
  workflow_version_id: deployment.versionId,
  machine_id: deployment.machineId,
  workflow: { id: deployment.workflowId, name: deployment.name },
  environment: ENVIRONMENT,
  description: null,
  share_slug: null,
  share_options: null,
  showcase_media: null,
  created_at: MADE,
  updated_at: MADE,
  gpu: deployment.gpu,
  concurrency_limit: deployment.concurrencyLimit,
  run_timeout: deployment.runTimeoutSeconds,
  input_types: deployment.inputTypes?.map(inputTypeToWire) ?? null,
});
