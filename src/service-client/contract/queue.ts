// Queue Run on the wire: its request, its answer, and the service's two error formats.

import { z } from 'zod';
import { withoutMarks } from './file-inputs.ts';

/** The request of Queue Run. `gpu` is any text here, because the service decides which values it accepts. */
export type QueueRequest = {
  readonly deploymentId: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** undefined for a run without a webhook. */
  readonly webhook: string | undefined;
  readonly gpu?: string | undefined;
  readonly flags?: readonly string[];
  /** The servers that may execute the run, and the execution limit. Only the run service of this package reads them. */
  readonly servers?: readonly string[] | undefined;
  readonly runTimeoutSeconds?: number | undefined;
};

export const queueToWire = (request: QueueRequest): object => ({
  deployment_id: request.deploymentId,
  inputs: withoutMarks(request.inputs),
  webhook: request.webhook,
  gpu: request.gpu,
  flags: request.flags,
  servers: request.servers,
  run_timeout: request.runTimeoutSeconds,
});

export const queueAnswerSchema = z
  .looseObject({ run_id: z.uuid() })
  .transform((wire) => ({ runId: wire.run_id }));

const problemWire = z.looseObject({
  loc: z.array(z.union([z.string(), z.number()])).default([]),
  msg: z.string().default(''),
  type: z.string().default(''),
});
export type ValidationProblem = z.infer<typeof problemWire>;

/** Covers both error formats: a sentence, or a list of validation problems. */
export const errorSchema = z.looseObject({ detail: z.union([z.string(), z.array(problemWire)]) });

const MAX_RUN_SECONDS = 365 * 86_400;

/** The body of Queue Run; unknown fields are ignored, like in the real service. */
export const queueRequestSchemaFor = (gpus: readonly [string, ...string[]]) =>
  z
    .object({
      deployment_id: z.guid(),
      inputs: z.record(z.string(), z.unknown()).default({}),
      webhook: z.string().nullish(),
      webhook_intermediate_status: z.boolean().default(false),
      gpu: z.enum(gpus).nullish(),
      flags: z.array(z.string()).nullish(),
      // Extensions of this package; other services ignore them.
      servers: z.array(z.string().regex(/^\S+$/)).max(1_000).nullish().catch(undefined),
      run_timeout: z.number().positive().max(MAX_RUN_SECONDS).nullish().catch(undefined),
    })
    .transform((wire) => ({
      deploymentId: wire.deployment_id,
      inputs: wire.inputs,
      webhook: wire.webhook ?? undefined,
      webhookIntermediateStatus: wire.webhook_intermediate_status,
      gpu: wire.gpu ?? undefined,
      flags: wire.flags ?? [],
      servers: wire.servers ?? [],
      runTimeoutSeconds: wire.run_timeout ?? undefined,
    }));
type QueueRequestSchema = ReturnType<typeof queueRequestSchemaFor>;
export type CheckedRequest = z.infer<QueueRequestSchema>;

const MAX_INPUTS = 10_000;

/** Why a body is refused before its inputs are checked one by one. */
export function oversize(body: unknown): string | undefined {
  const { inputs } = (body ?? {}) as { readonly inputs?: unknown };
  const isOversize = typeof inputs === 'object' && Object.keys(inputs ?? {}).length > MAX_INPUTS;
  return isOversize ? `a run has at most ${MAX_INPUTS} inputs` : undefined;
}

/** Parses a body. Inputs keep all names: `z.record` would drop `__proto__`, which every object has. */
export function readQueueRequest(schema: QueueRequestSchema, body: unknown) {
  const request = schema.safeParse(body);
  if (!request.success) return request;
  const { inputs = {} } = body as { readonly inputs?: Readonly<Record<string, unknown>> };
  return { ...request, data: { ...request.data, inputs } };
}
