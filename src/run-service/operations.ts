// The operations of the service: the inputs of each, and the exact schemas of its answers. Tests validate
// every answer against these schemas, and the OpenAPI document is generated from them.

import { z } from 'zod';
import * as paths from '../service-client/contract/paths.ts';
import { PATHS } from '../service-client/contract/paths.ts';
import { queueRequestSchemaFor } from '../service-client/contract/queue.ts';
import * as shown from '../service-client/contract/shown.ts';
import { behaviourOf, type BehaviourName } from './behaviour.ts';

export type Operation = {
  /** A method and a path, such as `GET /api/run/:run_id`. */
  readonly route: string;
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType | 'form';
  /** Schemas by status; undefined for an answer that is not JSON. */
  readonly answers: Readonly<Record<number, z.ZodType | undefined>>;
};

export function operationsOf(name: BehaviourName): readonly Operation[] {
  const order = orderOf(name);
  return [...runs(name, order.v2), ...lists(name), ...otherOperations, ...v1Operations(name, order.v1)];
}

const sentence = shown.sentenceShown;
const common = { 401: sentence, 500: undefined };
const withParameters = { ...common, 400: sentence, 422: shown.validationShown };
const ofOneRun = { ...withParameters, 403: sentence, 404: sentence };

const gpuOf = (name: BehaviourName) => z.enum(behaviourOf(name).gpus).nullable();

function orderOf(name: BehaviourName): { readonly v1: z.ZodObject; readonly v2: z.ZodObject } {
  const { gpus, freeFormInputs } = behaviourOf(name);
  const v1 = queueRequestSchemaFor(gpus).in;
  const value = z.union([z.string(), z.number(), z.boolean(), z.array(z.unknown())]);
  return { v1, v2: freeFormInputs ? v1 : v1.extend({ inputs: z.record(z.string(), value).default({}) }) };
}

function runs(name: BehaviourName, order: z.ZodType): readonly Operation[] {
  const gpu = gpuOf(name);
  const run = behaviourOf(name).showsWorkflowApi
    ? shown.runShown.extend({ gpu })
    : shown.runShown.extend({ gpu }).omit({ workflow_api: true });
  return [
    {
      route: `POST /api${PATHS.queue}`,
      body: order,
      answers: {
        ...common,
        200: z.strictObject({ run_id: z.guid() }),
        404: sentence,
        413: sentence,
        422: shown.validationShown,
        429: sentence,
      },
    },
    { route: `GET /api${PATHS.run}`, params: paths.runPathSchema, answers: { ...ofOneRun, 200: run } },
    { route: `GET /api${PATHS.runByQuery}`, query: paths.runQuerySchema, answers: { ...ofOneRun, 200: run } },
    {
      route: `POST /api${PATHS.cancel}`,
      params: paths.runPathSchema,
      answers: {
        ...ofOneRun,
        200: z.strictObject({ status: z.literal('success'), message: z.literal('Function cancelled') }),
      },
    },
  ];
}

function lists(name: BehaviourName): readonly Operation[] {
  const gpu = gpuOf(name);
  return [
    {
      route: `GET /api${PATHS.workflowRuns}`,
      params: paths.workflowPathSchema,
      query: paths.workflowRunsQuerySchema,
      answers: { ...withParameters, 200: z.array(shown.listedRunShown.extend({ gpu })), 404: sentence },
    },
    {
      route: `GET /api${PATHS.lightRuns}`,
      params: paths.workflowPathSchema,
      query: paths.lightRunsQuerySchema,
      answers: { ...withParameters, 200: z.array(shown.lightRowShown.extend({ gpu })), 404: sentence },
    },
    {
      route: `GET /api${PATHS.deploymentRuns}`,
      params: paths.deploymentPathSchema,
      query: paths.deploymentRunsQuerySchema,
      answers: { ...withParameters, 200: shown.runPageShown, 404: sentence },
    },
  ];
}

const otherOperations: readonly Operation[] = [
  {
    route: `POST /api${PATHS.upload}`,
    body: 'form',
    answers: { ...common, 200: shown.uploadShown, 400: sentence, 413: sentence, 422: shown.validationShown },
  },
  {
    route: `GET /api${PATHS.runLogs}`,
    params: paths.runPathSchema,
    answers: { ...withParameters, 200: shown.logShown },
  },
  {
    route: `GET /api${PATHS.streamLogs}`,
    query: paths.streamLogsQuerySchema,
    answers: { ...ofOneRun, 200: undefined },
  },
  {
    route: `GET /api${PATHS.deployments}`,
    query: paths.deploymentsQuerySchema,
    answers: { ...withParameters, 200: z.array(shown.deploymentShown) },
  },
  {
    route: `GET /api${PATHS.deployment}`,
    params: paths.deploymentPathSchema,
    answers: { ...withParameters, 200: shown.deploymentShown, 404: sentence },
  },
  {
    route: `GET /api${PATHS.pricing}`,
    answers: { 200: z.record(z.string(), z.number().nonnegative()) },
  },
  { route: `GET /api${PATHS.profile}`, answers: { ...common, 200: shown.profileShown } },
  {
    route: `GET /api${PATHS.openapi}`,
    answers: {
      ...common,
      200: z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) }),
    },
  },
];

function v1Operations(name: BehaviourName, order: z.ZodType): readonly Operation[] {
  const failed = z.strictObject({ error: z.string() });
  return [
    {
      route: 'POST /v1/api/run',
      body: order,
      answers: { 200: z.strictObject({ run_id: z.guid() }), 401: undefined, 413: sentence, 500: failed },
    },
    {
      route: 'GET /v1/api/run',
      query: paths.runQuerySchema,
      answers: {
        200: shown.v1RunShown.extend({ gpu: gpuOf(name) }),
        400: z.strictObject({ code: z.string(), message: z.literal('Workflow not found') }),
        401: undefined,
      },
    },
    {
      route: 'GET /v1/api/upload-url',
      query: paths.uploadQuerySchema,
      answers: { 200: shown.v1UploadUrlShown, 400: failed, 401: undefined },
    },
    { route: `GET /v1/api${PATHS.profile}`, answers: { 200: shown.profileShown, 401: undefined } },
  ];
}
