// Queue Run on the wire: what it is asked, what it answers, and both shapes in which the service refuses anything.

import { z } from 'zod';
import type { queueAnswerShown } from './shown/answers.ts';
import type { Shown } from './shown/fields.ts';

/** What Queue Run is asked. `gpu` is any text here: which values pass is the service's decision. */
export type QueueRequest = {
  readonly deploymentId: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** undefined for a run that nobody is told of. */
  readonly webhook: string | undefined;
  readonly gpu?: string | undefined;
  readonly flags?: readonly string[];
};

export const queueToWire = (request: QueueRequest): object => ({
  deployment_id: request.deploymentId,
  inputs: request.inputs,
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
/** One entry of a validation failure. */
export type ValidationProblem = z.infer<typeof problemWire>;

/** Both shapes of an error: a sentence, or a list of validation problems. */
export const errorSchema = z.looseObject({ detail: z.union([z.string(), z.array(problemWire)]) });

/** What the service reads of a Queue Run body; unknown fields are ignored, as the real one does. */
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
        .meta({ description: 'whether progress is told to the webhook as well' }),
      gpu: z.enum(gpus).nullish().meta({ description: "overrides the machine's default GPU" }),
      flags: z
        .array(z.string())
        .nullish()
        .meta({ description: '`provider_v2` is what the migration check uses' }),
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

export const queueAnswerToWire = (runId: string): Shown<typeof queueAnswerShown> => ({ run_id: runId });
