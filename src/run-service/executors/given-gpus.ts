// The body of a control request: servers, workflows, and the ids of programs.

import { z } from 'zod';
import { isWebAddress, withScheme } from '../../host/http/web-address.ts';
import { MODEL_HOSTS, SERVER_KINDS } from '../../options/facts/server-kind.ts';
import { statedPriceSchema } from './vendor-price.ts';
import { isSeat } from './server-address.ts';
import { RUN_TIMEOUT_SECONDS } from './workflow/workflow.ts';

const givenWorkflowSchema = z.strictObject({
  name: z.string().min(1).max(100),
  /** The graph as ComfyUI exports it for its API, or within the JSON of another tool. */
  text: z.string(),
  /** The graph to use if the text has several: `$.workflows[1]`. */
  at: z.string().optional(),
  /** The file of the text, for messages. */
  file: z.string().optional(),
  /** Names for inputs: `{ prompt: ['6.text'] }`. */
  inputs: z.record(z.string(), z.array(z.string()).min(1).readonly()).readonly().default({}),
  /** When a run times out (default: an hour). */
  runTimeoutSeconds: z.number().positive().default(RUN_TIMEOUT_SECONDS),
});

export const givenGpusSchema = z.strictObject({
  servers: z
    .array(
      z.strictObject({
        url: z
          .string()
          .transform((text) => (isSeat(text) ? text : withScheme(text)))
          .refine((text) => isSeat(text) || isWebAddress(text), 'it is no http address'),
        kind: z.enum(SERVER_KINDS).default('comfyui'),
        /** The name of the GPU (default: the name that the server reports). */
        gpu: z.string().min(1).max(60).optional(),
        headersFile: z.string().optional(),
        /** A key that is not stored, from the environment of a command. */
        key: z.string().optional(),
        /** How many runs the server executes at the same time (default: decided by its kind). */
        seats: z.int().min(1).max(1_000).optional(),
      }),
    )
    .default([]),
  workflows: z.array(givenWorkflowSchema).default([]),
  programs: z
    .array(
      z.strictObject({
        /** A command of the same user has kept the program, so that a request can never name a command. */
        id: z.string(),
        secrets: z.record(z.string(), z.string()).default({}),
      }),
    )
    .default([]),
  models: z
    .array(
      z.strictObject({
        vendor: z.enum(MODEL_HOSTS),
        /** The name on its page at the vendor: `owner/name`; the address of a Cog container. */
        model: z.string().min(1).max(300),
        name: z.string().min(1).max(100),
        /** A JSON Schema of the inputs (default: as the vendor describes them). */
        inputs: z.record(z.string(), z.unknown()).optional(),
        runTimeoutSeconds: z.number().positive().default(RUN_TIMEOUT_SECONDS),
        /** The workflow for a container of ComfyUI there. */
        workflow: givenWorkflowSchema.optional(),
        /** The price that the vendor asks, as the user knows it. */
        price: statedPriceSchema.optional(),
      }),
    )
    .default([]),
  /** false: the servers and workflows are only inspected for a plan, and nothing is stored. */
  keeps: z.boolean().default(true),
});

export type GivenWorkflow = z.output<typeof givenWorkflowSchema>;
export type WorkflowRequest = z.input<typeof givenWorkflowSchema>;
export type GivenModel = z.output<typeof givenGpusSchema>['models'][number];
export type GivenProgram = z.output<typeof givenGpusSchema>['programs'][number];
