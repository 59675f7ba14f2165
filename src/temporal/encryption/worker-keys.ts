// Checks that workers and commands can read each other's payloads. A worker lists its key ids in its identity, which Temporal
// shows: first the key with which it encrypts, and last `plain` if it accepts plain payloads.

import { hostname } from 'node:os';
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { problem } from '../../errors/error.ts';
import type { TemporalAddress } from '../temporal-address.ts';
import type { PayloadKeys } from './payload-keys.ts';

const { TASK_QUEUE_TYPE_ACTIVITY, TASK_QUEUE_TYPE_WORKFLOW } = proto.temporal.api.enums.v1.TaskQueueType;

const PLAIN = 'plain';

/** The readable formats; new payloads use the first one. */
const readsOf = ({ keys, readsPlain }: PayloadKeys): readonly string[] => [
  ...keys.map(({ id }) => id),
  ...(readsPlain ? [PLAIN] : []),
];

/** The identity of a worker with these keys. `parts`: further words that Temporal shows. */
export const identityWith = (keys: PayloadKeys, ...parts: readonly string[]): string =>
  [`${process.pid}@${hostname()}`, ...parts, 'reads', readsOf(keys).join(',')].join(' ');

/** undefined for a worker whose identity lists no keys. */
const readsIn = (identity: string) => / reads (\S+)$/.exec(identity)?.[1]?.split(',');

export type WorkerKeys = {
  readonly workers: number;
  /** The identities of workers that cannot read our payloads, or whose payloads we cannot read. */
  readonly mismatched: readonly string[];
};

type Tasks = 'workflow' | 'activity';

/** The processes that have polled a task queue in the last minutes. */
export async function pollersOf(client: Client, namespace: string, name: string, type: Tasks) {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name },
    taskQueueType: type === 'activity' ? TASK_QUEUE_TYPE_ACTIVITY : TASK_QUEUE_TYPE_WORKFLOW,
  });
  return pollers ?? [];
}

/** The workers of a task queue that Temporal has seen in the last minutes. */
export async function readWorkerKeys(
  client: Client,
  { namespace }: Pick<TemporalAddress, 'namespace'>,
  taskQueue: string,
  keys: PayloadKeys,
  type: Tasks = 'workflow',
): Promise<WorkerKeys> {
  const pollers = await pollersOf(client, namespace, taskQueue, type);
  const identities = pollers.map(({ identity }) => identity ?? '');
  const own = readsOf(keys);
  const mismatched = identities.filter((identity) => !fit(own, readsIn(identity) ?? own));
  return { workers: identities.length, mismatched };
}

const fit = (own: readonly string[], peer: readonly string[]): boolean =>
  own.includes(peer[0] ?? '') && peer.includes(own[0] ?? '');

/**
 * Throws E410 if any or all do not match. One matching worker is enough to work, and Temporal lists a killed one for
 * some minutes.
 */
export function checkWorkerKeys(
  { workers, mismatched }: WorkerKeys,
  { address }: Pick<TemporalAddress, 'address'>,
  keys: PayloadKeys,
  which: 'any' | 'all',
): void {
  const isWrong = which === 'any' ? mismatched.length > 0 : workers > 0 && mismatched.length === workers;
  if (isWrong) throw problem('E410', { address, workers: mismatched, own: readsOf(keys).join(',') });
}
