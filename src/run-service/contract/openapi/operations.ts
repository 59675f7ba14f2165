// The table of operations: an endpoint needs one entry here for the document and the fuzzer.

import { z } from 'zod';
import {
  deploymentPathSchema,
  deploymentRunsQuerySchema,
  deploymentsQuerySchema,
  lightRunsQuerySchema,
  PATHS,
  runPathSchema,
  runQuerySchema,
  streamLogsQuerySchema,
  uploadQuerySchema,
  workflowPathSchema,
  workflowRunsQuerySchema,
} from '../paths.ts';
import { sentenceShown, validationShown } from '../shown.ts';
import type { Schemas } from './schemas.ts';

type Content = {
  readonly type: string;
  /** undefined for an event stream. */
  readonly schema?: z.ZodType;
  /** The media types of a form's parts, by name. */
  readonly parts?: Readonly<Record<string, string>>;
  readonly example?: unknown;
};
type Answer = Content & { readonly description: string };
type Answers = Readonly<Record<number, Answer>>;
/** The schema of unparsed parameters. */
type Fields = z.ZodType<unknown, Record<string, unknown>>;

export type Operation = {
  readonly id: string;
  /** Default: V2. */
  readonly base?: 'v1';
  /** Default: GET. */
  readonly method?: 'post';
  /** Relative to the base; a name after a colon is a parameter. */
  readonly path: string;
  readonly group: string;
  readonly summary: string;
  readonly description?: string;
  /** True if no token is needed. */
  readonly open?: boolean;
  readonly params?: Fields;
  readonly query?: Fields;
  readonly body?: Content;
  /** By status code. */
  readonly answers: Answers;
};

const json = (description: string, schema: z.ZodType, example?: unknown): Answer => ({
  type: 'application/json',
  description,
  schema,
  ...(example !== undefined && { example }),
});

const ORDER = {
  deployment_id: '3f2b8c1e-5d6a-4b7c-8d9e-0a1b2c3d4e5f',
  inputs: { prompt: 'a lighthouse at dawn', seed: 7 },
  webhook: 'https://example.com/hooks/runs',
  gpu: 'A10G',
};

const sentence = (description: string, example: string): Answer =>
  json(description, sentenceShown, { detail: example });
const broken: Answer = {
  type: 'text/plain',
  description: 'An error of the service itself; the result of the request is unknown',
  schema: z.string(),
  example: 'Internal Server Error',
};
const withToken = (own: Answers): Answers => ({
  401: sentence('The token is missing or invalid', 'Invalid or missing token'),
  500: broken,
  ...own,
});
const withParameters = (own: Answers): Answers =>
  withToken({
    400: sentence('The address cannot be read', "'/api/run/%' is not a valid url component"),
    422: json('A parameter is malformed', validationShown),
    ...own,
  });
const notYours = sentence(
  'The run belongs to another owner',
  'You are not authorized to access this resource',
);
const runNotFound = sentence('The run does not exist', 'Run not found');
const ofOneRun = (success: Answer): Answers =>
  withParameters({ 200: success, 403: notYours, 404: runNotFound });
const workflowNotFound = sentence('The workflow does not exist', 'Workflow not found');
const deploymentNotFound = sentence('The deployment does not exist', 'Deployment not found');
const tooLarge = sentence('The body is larger than 16 MiB', 'Request body is too large');
const unknownV1Token = {
  type: 'text/plain',
  description: 'The token is missing or invalid',
  schema: z.string(),
};

const runOperations = (schemas: Schemas): readonly Operation[] =>
  inGroup('Runs', [
    {
      id: 'queueRun',
      method: 'post',
      path: PATHS.queue,
      summary: 'Queue Run',
      description:
        'Creates a run of the deployment and returns its identifier in run_id. Undocumented fields are ignored. There is no idempotency: each call creates a run.',
      body: { type: 'application/json', schema: schemas.Order, example: ORDER },
      answers: withToken({
        200: json('The run is created', schemas.QueueAnswer),
        404: deploymentNotFound,
        413: tooLarge,
        422: json('deployment_id is missing, or a field is invalid', validationShown),
        429: sentence('Too many requests; only with the fault `busy`', 'Too Many Requests'),
      }),
    },
    {
      id: 'getRun',
      path: PATHS.run,
      summary: 'Get Run',
      params: runPathSchema,
      answers: ofOneRun(json('The run', schemas.Run)),
    },
    {
      id: 'getRunByQuery',
      path: PATHS.runByQuery,
      summary: 'Get Run with the id in the query, in V1 style',
      query: runQuerySchema,
      answers: ofOneRun(json('The run', schemas.Run)),
    },
    {
      id: 'cancelRun',
      method: 'post',
      path: PATHS.cancel,
      summary: 'Cancel a run',
      description:
        'Ends the run in any state. A run that has already ended does not change, and the answer is the same.',
      params: runPathSchema,
      answers: ofOneRun(json('The run has ended', schemas.CancelAnswer)),
    },
  ]);

const listOperations = (schemas: Schemas): readonly Operation[] =>
  inGroup('Run lists', [
    {
      id: 'listWorkflowRuns',
      path: PATHS.workflowRuns,
      summary: 'Runs of a workflow',
      description: 'Your runs of the workflow, newest first, each with its webhook and its deployment.',
      params: workflowPathSchema,
      query: workflowRunsQuerySchema,
      answers: withParameters({ 200: json('The runs', z.array(schemas.ListedRun)), 404: workflowNotFound }),
    },
    {
      id: 'listLightRuns',
      path: PATHS.lightRuns,
      summary: 'Runs of a workflow, light',
      description: 'The same without inputs and outputs: one short row per run.',
      params: workflowPathSchema,
      query: lightRunsQuerySchema,
      answers: withParameters({ 200: json('The runs', z.array(schemas.LightRow)), 404: workflowNotFound }),
    },
    {
      id: 'listDeploymentRuns',
      path: PATHS.deploymentRuns,
      summary: 'Runs of a deployment',
      description: 'Your runs of the deployment, newest first, with few fields each.',
      params: deploymentPathSchema,
      query: deploymentRunsQuerySchema,
      answers: withParameters({ 200: json('A page of runs', schemas.RunPage), 404: deploymentNotFound }),
    },
  ]);

const fileOperations = (schemas: Schemas): readonly Operation[] =>
  inGroup('Files and logs', [
    {
      id: 'uploadFile',
      method: 'post',
      path: PATHS.upload,
      summary: 'Upload a file',
      description: 'Its address can be used as an input.',
      body: {
        type: 'multipart/form-data',
        schema: z.object({ file: z.string().meta({ description: 'the file', format: 'binary' }) }),
        parts: { file: 'image/*, video/*, audio/*, application/*' },
      },
      answers: withToken({
        200: json('The file was stored', schemas.Upload),
        400: sentence('The file has an unsupported type, or the form is invalid', 'Unsupported file type'),
        413: sentence('The file is larger than 250 MiB', 'request file too large'),
        422: json('The form or its file is missing', validationShown),
      }),
    },
    {
      id: 'getRunLogs',
      path: PATHS.runLogs,
      summary: 'Log of a run',
      description:
        'All lines up to now. The only place with the reason of a failure. Empty for a run that does not exist or is not yours.',
      params: runPathSchema,
      answers: withParameters({ 200: json('The lines', schemas.Log) }),
    },
    {
      id: 'streamRunLogs',
      path: PATHS.streamLogs,
      summary: 'Log of a run, as a stream',
      description: 'An endless stream of server-sent events: log lines, and a keep-alive every second.',
      query: streamLogsQuerySchema,
      answers: withParameters({
        200: {
          type: 'text/event-stream',
          description: 'Events whose data is a LogLine, or `{"type":"keepalive"}`',
        },
        403: notYours,
        404: runNotFound,
      }),
    },
  ]);

const deploymentOperations = (schemas: Schemas): readonly Operation[] =>
  inGroup('Deployments', [
    {
      id: 'listDeployments',
      path: PATHS.deployments,
      summary: 'All deployments that accept runs, with their inputs',
      query: deploymentsQuerySchema,
      answers: withParameters({ 200: json('The deployments', z.array(schemas.Deployment)) }),
    },
    {
      id: 'getDeployment',
      path: PATHS.deployment,
      summary: 'One deployment, with its inputs',
      params: deploymentPathSchema,
      answers: withParameters({
        200: json('The deployment', schemas.Deployment),
        404: deploymentNotFound,
      }),
    },
  ]);

const platformOperations = (schemas: Schemas): readonly Operation[] =>
  inGroup('Platform', [
    {
      id: 'getPricing',
      path: PATHS.pricing,
      summary: 'The price of each GPU per second',
      open: true,
      answers: { 200: json('The prices', schemas.Pricing) },
    },
    {
      id: 'getProfile',
      path: PATHS.profile,
      summary: 'Recommended intervals for clients',
      description: 'Only the local run service has this: clients can wait less than for the real service.',
      answers: withToken({ 200: json('The profile', schemas.Profile) }),
    },
    {
      id: 'getDocument',
      path: PATHS.openapi,
      summary: 'This document',
      description: 'OpenAPI 3.1, generated from the schemas with which the service itself is tested.',
      open: true,
      answers: { 200: json('The document', z.looseObject({ openapi: z.literal('3.1.1') })) },
    },
  ]);

const legacyOperations = (schemas: Schemas): readonly Operation[] =>
  inGroup('V1 (legacy)', [
    {
      id: 'v1CreateRun',
      base: 'v1',
      method: 'post',
      path: '/run',
      summary: 'Create run',
      description: 'Queue Run of V1. Every invalid request answers 500.',
      body: { type: 'application/json', schema: schemas.V1Order, example: ORDER },
      answers: {
        200: json('The run is created', schemas.QueueAnswer),
        401: unknownV1Token,
        413: tooLarge,
        500: json('The request is invalid', schemas.V1Error, { error: 'Invalid request body' }),
      },
    },
    {
      id: 'v1GetRun',
      base: 'v1',
      path: '/run',
      summary: 'Get run status',
      description: 'The run in V1 format: without V2 fields, and its outputs without their wrapper.',
      query: runQuerySchema,
      answers: {
        200: json('The run', schemas.V1Run),
        400: json('The run does not exist or is not yours', schemas.V1NotFound),
        401: unknownV1Token,
      },
    },
    {
      id: 'v1UploadUrl',
      base: 'v1',
      path: '/upload-url',
      summary: 'Get an upload address',
      description: 'Send the file to upload_url with one PUT.',
      query: uploadQuerySchema,
      answers: {
        200: json('The address', schemas.V1UploadUrl),
        400: json('type or file_size is invalid', schemas.V1Error, {
          error: 'Invalid type or file_size',
        }),
        401: unknownV1Token,
      },
    },
    {
      id: 'v1Profile',
      base: 'v1',
      path: PATHS.profile,
      summary: 'Recommended intervals for clients, as on the base of V2',
      answers: { 200: json('The profile', schemas.Profile), 401: unknownV1Token },
    },
  ]);

const inGroup = (group: string, operations: readonly Omit<Operation, 'group'>[]): readonly Operation[] =>
  operations.map((operation) => ({ ...operation, group }));

export const operationsFor = (schemas: Schemas): readonly Operation[] => [
  ...runOperations(schemas),
  ...listOperations(schemas),
  ...fileOperations(schemas),
  ...deploymentOperations(schemas),
  ...platformOperations(schemas),
  ...legacyOperations(schemas),
];
