// The paths of the V2 service below its base, and their parameters. A name after a colon is a parameter.

import { z } from 'zod';

export const PATHS = {
  queue: '/run/deployment/queue',
  run: '/run/:run_id',
  /** The same run, with its id in the query as in V1. */
  runByQuery: '/run',
  cancel: '/run/:run_id/cancel',
  workflowRuns: '/workflow/:workflow_id/runs',
  deploymentRuns: '/deployment/:deployment_id/runs',
  deployments: '/deployments',
  deployment: '/deployment/:deployment_id',
  pricing: '/platform/gpu-pricing',
  profile: '/platform/profile',
  /** The light list with one short row per run. */
  lightRuns: '/v2/workflow/:workflow_id/runs',
  runLogs: '/v2/clickhouse-run-logs/:run_id',
  streamLogs: '/v2/stream-logs',
  upload: '/file/upload',
  /** Only the run service of this package serves this path. */
  openapi: '/openapi.json',
} as const;

export const CALL_NAMES = ['queue_run', 'get_run', 'list_runs', 'cancel_run', 'get_log', 'other'] as const;
export type CallName = (typeof CALL_NAMES)[number];

/** The name of a call other than Queue Run, in V1 or V2. */
export function callName(path: string): CallName {
  if (/^\/run(?:\/[^/?]+$|\?)/.test(path)) return 'get_run';
  if (/^\/run\/[^/]+\/cancel$/.test(path)) return 'cancel_run';
  if (/^\/workflow\/[^/]+\/runs\?/.test(path)) return 'list_runs';
  return path.startsWith(PATHS.runLogs.replace(':run_id', '')) ? 'get_log' : 'other';
}

// Any 128 bits, like the real service; upper and lower case letters are equal.
const uuid = z.guid().transform((text) => text.toLowerCase());

/** V1's way to name a run: `?run_id=`. */
export const runQuerySchema = z.object({ run_id: uuid }).transform((wire) => wire.run_id);
export const runPathSchema = z.object({ run_id: uuid }).transform((wire) => wire.run_id);
export const workflowPathSchema = z.object({ workflow_id: uuid }).transform((wire) => wire.workflow_id);
export const deploymentPathSchema = z.object({ deployment_id: uuid }).transform((wire) => wire.deployment_id);

const blankIsAbsent = (value: unknown): unknown => (value === '' ? undefined : value);
const flag = (fallback: boolean) => z.preprocess(blankIsAbsent, z.stringbool().default(fallback));
const word = z.preprocess(blankIsAbsent, z.string().optional());
const count = (fallback: number, least = 0, most = Number.MAX_SAFE_INTEGER) =>
  z.preprocess(blankIsAbsent, z.coerce.number().int().min(least).max(most).default(fallback));

// A larger limit is refused, because a silently shortened page would look like the last one.
const MAX_PAGE = 10_000;
const pageOf = (limit: number) => ({
  limit: count(limit, 1, MAX_PAGE),
  offset: count(0),
});

export const workflowRunsQuerySchema = z
  .object({
    with_inputs: flag(false),
    with_outputs: flag(true),
    ...pageOf(100),
  })
  .transform((wire) => ({
    limit: wire.limit,
    offset: wire.offset,
    also: { inputs: wire.with_inputs, outputs: wire.with_outputs },
  }));

export const deploymentRunsQuerySchema = z.object(pageOf(60));

/** The query of the light run list of a workflow. `rf` is the earliest creation, in seconds since 1970. */
export const lightRunsQuerySchema = z
  .object({
    status: word,
    deployment_id: z.preprocess(blankIsAbsent, uuid.optional()),
    rf: count(0),
    ...pageOf(100),
  })
  .transform((wire) => ({
    status: wire.status,
    deploymentId: wire.deployment_id,
    sinceMs: wire.rf * 1000,
    limit: wire.limit,
    offset: wire.offset,
  }));

/** The user's servers that may execute the runs, separated by spaces. Only the run service of this package reads them. */
export const deploymentQuerySchema = z
  .object({ servers: word })
  .transform((wire) => ({ servers: wire.servers?.split(' ').filter(Boolean) ?? [] }));

export const streamLogsQuerySchema = z
  .object({ run_id: uuid, log_level: word })
  .transform((wire) => ({ runId: wire.run_id, level: wire.log_level }));

/** The only environment, because all local deployments are in production. */
export const ENVIRONMENT = 'production';

export const deploymentsQuerySchema = z
  .object({ environment: z.string().optional() })
  .transform((wire) => ({ isWanted: (wire.environment ?? ENVIRONMENT) === ENVIRONMENT }));

const UPLOAD_TYPES_V1 = [
  'image/png',
  'image/jpg',
  'image/jpeg',
  'image/webp',
  'video/mp4',
  'video/webm',
  'application/octet-stream',
] as const;
export const MAX_BYTES_V1 = 50 * 1024 * 1024;

/** The query of V1's request for an upload address. */
export const uploadQuerySchema = z
  .object({
    type: z.enum(UPLOAD_TYPES_V1),
    file_size: z.coerce.number().int().min(1).max(MAX_BYTES_V1),
  })
  .transform((wire) => ({ type: wire.type, bytes: wire.file_size }));

/** Where the service stored an uploaded file. */
export const uploadedSchema = z.object({ file_url: z.string() }).transform((wire) => wire.file_url);
