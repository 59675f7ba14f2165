// The table of operations.

import { z } from 'zod';
import {
  deploymentPathSchema,
  deploymentRunsQuerySchema,
  lightRunsQuerySchema,
  PATHS,
  runPathSchema,
  runQuerySchema,
  workflowPathSchema,
  workflowRunsQuerySchema,
} from '../paths.ts';
import { deploymentsQuerySchema } from '../deployment.ts';
import { EXAMPLES } from './examples.ts';
import { json, ofOneRun, sentence, tooLarge, withParameters, withToken } from './answers.ts';
import { fileAndLogOperations } from './files-and-logs.ts';
import { legacyOperations } from './legacy.ts';
import type { Operation } from './operation.ts';
import type { Schemas } from './schemas.ts';

const workflowNotFound = sentence('The workflow does not exist', 'Workflow not found');
const deploymentNotFound = sentence('The deployment does not exist', 'Deployment not found');

/** Only the fields that this behaviour shows. */
const exampleRun = ({ Run }: Schemas): object =>
  Object.fromEntries(Object.entries(EXAMPLES.run).filter(([name]) => name in Run.shape));

/** All operations of both bases. */
export const operationsFor = (schemas: Schemas): readonly Operation[] => [
  ...runOperations(schemas),
  ...listOperations(schemas),
  ...fileAndLogOperations(schemas),
  ...deploymentOperations(schemas),
  ...platformOperations(schemas),
  ...legacyOperations(schemas),
];

const queueRun = (schemas: Schemas): Operation => ({
  id: 'queueRun',
  base: 'v2',
  method: 'post',
  path: PATHS.queue,
  group: 'Runs',
  summary: 'Queue Run',
  description:
    'Creates a run of the deployment and returns its identifier in run_id. Undocumented fields are ignored. There is no idempotency: each call creates a run.',
  body: { type: 'application/json', schema: schemas.Order, example: EXAMPLES.order },
  answers: withToken({
    200: json('The run is created', schemas.QueueAnswer, EXAMPLES.queued),
    404: deploymentNotFound,
    413: tooLarge,
    422: json('deployment_id is missing, or a field is invalid', schemas.ValidationFailure, {
      detail: [
        { type: 'missing', loc: ['body', 'deployment_id'], msg: 'Field required', input: { inputs: {} } },
      ],
    }),
    429: sentence('Too many requests; only with the fault `busy`', 'Too Many Requests'),
  }),
});

const runOperations = (schemas: Schemas): readonly Operation[] => [
  queueRun(schemas),
  {
    id: 'getRun',
    base: 'v2',
    method: 'get',
    path: PATHS.run,
    group: 'Runs',
    summary: 'Get Run',
    description: 'Returns the run.',
    params: runPathSchema,
    answers: ofOneRun(json('The run', schemas.Run, exampleRun(schemas))),
  },
  {
    id: 'getRunByQuery',
    base: 'v2',
    method: 'get',
    path: PATHS.runByQuery,
    group: 'Runs',
    summary: 'Get Run with the id in the query',
    description: 'The same run, in V1 style.',
    query: runQuerySchema,
    answers: ofOneRun(json('The run', schemas.Run, exampleRun(schemas))),
  },
  {
    id: 'cancelRun',
    base: 'v2',
    method: 'post',
    path: PATHS.cancel,
    group: 'Runs',
    summary: 'Cancel a run',
    description:
      'Ends the run in any state. A run that has already ended does not change, and the answer is the same.',
    params: runPathSchema,
    answers: ofOneRun(
      json('The run has ended', schemas.CancelAnswer, { status: 'success', message: 'Function cancelled' }),
    ),
  },
];

const listOperations = (schemas: Schemas): readonly Operation[] => [
  {
    id: 'listWorkflowRuns',
    base: 'v2',
    method: 'get',
    path: PATHS.workflowRuns,
    group: 'Run lists',
    summary: 'Runs of a workflow',
    description: 'Your runs of the workflow, newest first, each with its webhook and its deployment.',
    params: workflowPathSchema,
    query: workflowRunsQuerySchema,
    answers: withParameters({
      200: json('The runs', z.array(schemas.ListedRun), EXAMPLES.listedRuns),
      404: workflowNotFound,
    }),
  },
  {
    id: 'listLightRuns',
    base: 'v2',
    method: 'get',
    path: PATHS.lightRuns,
    group: 'Run lists',
    summary: 'Runs of a workflow, light',
    description: 'The same without inputs and outputs: one short row per run.',
    params: workflowPathSchema,
    query: lightRunsQuerySchema,
    answers: withParameters({
      200: json('The runs', z.array(schemas.LightRow), EXAMPLES.lightRows),
      404: workflowNotFound,
    }),
  },
  {
    id: 'listDeploymentRuns',
    base: 'v2',
    method: 'get',
    path: PATHS.deploymentRuns,
    group: 'Run lists',
    summary: 'Runs of a deployment',
    description: 'Your runs of the deployment, newest first, with few fields each.',
    params: deploymentPathSchema,
    query: deploymentRunsQuerySchema,
    answers: withParameters({
      200: json('A page of runs', schemas.RunPage, EXAMPLES.runPage),
      404: deploymentNotFound,
    }),
  },
];

const deploymentOperations = (schemas: Schemas): readonly Operation[] => [
  {
    id: 'listDeployments',
    base: 'v2',
    method: 'get',
    path: PATHS.deployments,
    group: 'Deployments',
    summary: 'All deployments',
    description: 'All deployments that accept runs, with their inputs.',
    query: deploymentsQuerySchema,
    answers: withParameters({
      200: json('The deployments', z.array(schemas.Deployment), [EXAMPLES.deployment]),
    }),
  },
  {
    id: 'getDeployment',
    base: 'v2',
    method: 'get',
    path: PATHS.deployment,
    group: 'Deployments',
    summary: 'One deployment',
    description: 'The deployment with its inputs.',
    params: deploymentPathSchema,
    answers: withParameters({
      200: json('The deployment', schemas.Deployment, EXAMPLES.deployment),
      404: deploymentNotFound,
    }),
  },
];

const platformOperations = (schemas: Schemas): readonly Operation[] => [
  {
    id: 'getPricing',
    base: 'v2',
    method: 'get',
    path: PATHS.pricing,
    group: 'Platform',
    summary: 'Prices',
    description: 'The price of each GPU per second.',
    open: true,
    answers: { 200: json('The prices', schemas.Pricing, EXAMPLES.pricing) },
  },
  {
    id: 'getProfile',
    base: 'v2',
    method: 'get',
    path: PATHS.profile,
    group: 'Platform',
    summary: 'Recommended intervals for clients',
    description: 'Only the local run service has this: clients can wait less than for the real service.',
    answers: withToken({
      200: json('The profile', schemas.Profile, {
        rehearsal: true,
        post_deadline_ms: 10_000,
        list_gap_ms: 1_000,
        settle_ms: 0,
        settle_without_control_ms: 3_000,
        poll_interval_ms: 250,
      }),
    }),
  },
  {
    id: 'getDocument',
    base: 'v2',
    method: 'get',
    path: PATHS.openapi,
    group: 'Platform',
    summary: 'This document',
    description: 'OpenAPI 3.1, generated from the schemas with which the service itself is tested.',
    open: true,
    answers: { 200: json('The document', z.looseObject({ openapi: z.literal('3.1.1') })) },
  },
  {
    id: 'getDocumentPage',
    base: 'v2',
    method: 'get',
    path: PATHS.docs,
    group: 'Platform',
    summary: 'This document as a page',
    description: 'Without scripts and external resources.',
    open: true,
    answers: { 200: { type: 'text/html', description: 'The page', schema: z.string() } },
  },
];
