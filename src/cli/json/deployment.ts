// A deployment as JSON: what can be run, and with which inputs.

import { z } from 'zod';
import type { Deployment } from '../../run-service/contract/deployment.ts';
import { amount, count, shaped } from './shape.ts';

export const deploymentSchema = z.object({
  id: z.string(),
  name: z.string().nullable(),
  gpu: z.string().nullable().describe('a deployment with a GPU ignores the one that a row asks for'),
  concurrency_limit: amount.nullable(),
  time_limit_seconds: amount.nullable(),
  version_id: z.string().nullable(),
  inputs: z
    .array(
      z.object({
        input: z.string(),
        type: z.string(),
        required: z.boolean(),
        default: z.unknown().nullable(),
        min: amount.nullable(),
        max: amount.nullable(),
        options: z.array(z.string()).nullable(),
      }),
    )
    .nullable()
    .describe('null: the service does not describe them'),
  batches: count.describe('batches of it in the folder of the batches'),
});

export const deploymentJson = (
  { concurrencyLimit, runTimeoutSeconds, versionId, inputTypes, ...deployment }: Deployment,
  batches: number,
): z.infer<typeof deploymentSchema> =>
  shaped(deploymentSchema, {
    ...deployment,
    concurrency_limit: concurrencyLimit,
    time_limit_seconds: runTimeoutSeconds,
    version_id: versionId,
    inputs: inputTypes?.map(({ name, ...input }) => ({ input: name, ...input })),
    batches,
  });
