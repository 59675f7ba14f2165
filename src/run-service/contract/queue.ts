// Queue Run on the wire: its request, its answer, and the service's two error formats.

import { z } from 'zod';
import { withoutMarks } from './file-inputs.ts';

/** The request of Queue Run. `gpu` is any text here: the service decides which values it accepts. */
export type QueueRequest = {
  readonly deploymentId: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** undefined for a run without a webhook. */
  readonly webhook: string | undefined;
  readonly gpu?: string | undefined;
  readonly flags?: readonly string[];
};

export const queueToWire = (request: QueueRequest): object => ({
  deployment_id: request.deploymentId,
  inputs: withoutMarks(request.inputs),
  webhook: request.webhook,
  gpu: request.gpu,
  flags: request.flags,
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

/** Both error formats: a sentence, or a list of validation problems. */
export const errorSchema = z.looseObject({ detail: z.union([z.string(), z.array(problemWire)]) });

/** The body of Queue Run; unknown fields are ignored, like in the real service. */
export const queueRequestSchemaFor = (gpus: readonly [string, ...string[]]) =>
  z
    .object({
      deployment_id: z.guid().meta({ description: 'the deployment to run' }),
      inputs: z
        .record(z.string(), z.unknown())
        .default({})
        .meta({ description: 'the inputs of the run, by name' }),
      webhook: z.string().nullish().meta({ description: 'webhook target' }),
      webhook_intermediate_status: z
        .boolean()
        .default(false)
        .meta({ description: 'whether the webhook also gets progress' }),
      gpu: z.enum(gpus).nullish().meta({ description: "overrides the machine's default GPU" }),
      flags: z
        .array(z.string())
        .nullish()
        .meta({ description: '`provider_v2` is used by the migration check' }),
    })
    .transform((wire) => ({
      deploymentId: wire.deployment_id,
      inputs: wire.inputs,
      webhook: wire.webhook ?? undefined,
      webhookIntermediateStatus: wire.webhook_intermediate_status,
      gpu: wire.gpu ?? undefined,
      flags: wire.flags ?? [],
    }));
export type QueueOrder = z.infer<ReturnType<typeof queueRequestSchemaFor>>;
