// The programs that the workers of a cluster may start for notifications. A worker puts hashes of them in its
// identity, which Temporal shows, so a command can refuse a target that no worker would serve before any row is sent.

import { createHash } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { workQueueOf } from '../../workflows/task-queues.ts';
import { POLLED_MS } from './cluster-members.ts';
import { pollersOf } from './encryption/worker-keys.ts';

const { TASK_QUEUE_TYPE_ACTIVITY } = proto.temporal.api.enums.v1.TaskQueueType;
const { DESCRIBE_TASK_QUEUE_MODE_ENHANCED } = proto.temporal.api.enums.v1.DescribeTaskQueueMode;

const PART = 'programs/';
const NONE = 'none';
const HASH_DIGITS = 12;
/** Temporal bounds the length of an identity; a worker with more programs names none, and is trusted to start any. */
const MAX_PROGRAMS = 16;

const hashOf = (path: string): string =>
  createHash('sha256').update(path).digest('hex').slice(0, HASH_DIGITS);

/** The words of a worker's identity that name its programs. */
export const programsPart = (programs: readonly string[]): readonly string[] =>
  programs.length > MAX_PROGRAMS ? [] : [`${PART}${programs.map(hashOf).join(',') || NONE}`];

/** undefined: the worker does not say, like workers of applications and of older releases. */
const programsIn = (identity: string): readonly string[] | undefined =>
  identity
    .split(' ')
    .find((word) => word.startsWith(PART))
    ?.slice(PART.length)
    .split(',');

/** False only if it is certain: workers poll, and none of them may start the program. */
export async function mayBeStarted(client: Client, queue: string, path: string): Promise<boolean> {
  const identities = await workersOf(client, workQueueOf(queue));
  const hash = hashOf(path);
  return (
    identities.length === 0 || identities.some((identity) => programsIn(identity)?.includes(hash) ?? true)
  );
}

/**
 * The workers of every partition of the queue, and of every Worker Deployment: the plain answer has one partition,
 * the enhanced one no deployment.
 */
async function workersOf(client: Client, queue: string): Promise<readonly string[]> {
  const { namespace } = client.options;
  const [plain, enhanced] = await Promise.all([
    pollersOf(client, namespace, queue, 'activity'),
    client.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: queue },
      apiMode: DESCRIBE_TASK_QUEUE_MODE_ENHANCED,
      taskQueueTypes: [TASK_QUEUE_TYPE_ACTIVITY],
      reportPollers: true,
    }),
  ]);
  const everywhere = Object.values(enhanced.versionsInfo ?? {}).flatMap(({ typesInfo }) =>
    Object.values(typesInfo ?? {}).flatMap(({ pollers }) => pollers ?? []),
  );
  return [...plain, ...everywhere]
    .filter(({ lastAccessTime }) => Date.now() - (optionalTsToMs(lastAccessTime) ?? 0) < POLLED_MS)
    .map(({ identity }) => identity ?? '');
}
