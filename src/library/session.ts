// Connects a command or a program to Temporal: to a given client, to a cluster if the settings name one, else to the embedded
// stack.

import { allowOut } from '../store/allowed-folders.ts';
import { problem } from '../errors/error.ts';
import { connectClient, givenClient } from '../temporal/connect.ts';
import { openPools, type Pools } from '../temporal/pools.ts';
import { openSchedules, type Schedules } from '../temporal/schedules.ts';
import { isSearchWanted } from '../temporal/search-attributes.ts';
import { openTickets } from '../schedule/tickets.ts';
import type { TemporalAddress } from '../temporal/temporal-address.ts';
import { clusterOf, type SessionParams } from './connect-options.ts';
import { openBatchClient, type BatchClient } from '../temporal/batch-client.ts';
import { TASK_QUEUE } from '../../workflows/task-queues.ts';
import { clientConverter } from '../temporal/encryption/converter.ts';
import { readWorkerKeys, checkWorkerKeys } from '../temporal/encryption/worker-keys.ts';
import { payloadKeys } from '../temporal/encryption/payload-keys.ts';
import { followStack, readStack, type Follower } from '../temporal/embedded/follower.ts';

export type Session = {
  readonly batches: BatchClient;
  readonly pools: Pools;
  readonly schedules: Schedules;
  /** undefined on a cluster, where batches continue without this command. */
  readonly stack: Follower | undefined;
  /** Closes the session once; calls `onProgress` with the number of requests that are still awaited. */
  close(onProgress?: (onWire: number) => void): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** A session for a command that only reads; undefined if no embedded stack is running. */
export async function openLivingSession(params: SessionParams): Promise<Session | undefined> {
  const cluster = clusterOf(params);
  if (cluster) return sessionWith(params, cluster, undefined);
  const stack = await readStack(stackParams(params));
  return stack && sessionWith(params, stack.temporal, stack);
}

export async function openSession(params: SessionParams): Promise<Session> {
  const cluster = clusterOf(params);
  // --local starts the run service in the embedded stack, which a cluster does not have.
  if (cluster && params.local) throw localOnCluster();
  if (cluster) return sessionWith(params, cluster, undefined);
  // The worker does not get this command's flags, so the folder is written to a file.
  allowOut(params.config);
  const stack = await followStack(stackParams(params));
  try {
    return await sessionWith(params, stack.temporal, stack);
  } catch (error) {
    await stack.leave();
    throw error;
  }
}

const stackParams = ({ config, local, notice }: SessionParams) => ({ config, service: local, notice });

async function sessionWith(
  { config, client: given }: Pick<SessionParams, 'config' | 'client'>,
  at: TemporalAddress,
  stack: Follower | undefined,
): Promise<Session> {
  const keys = payloadKeys(config, stack === undefined ? 'cluster' : 'embedded');
  const converter = clientConverter(keys);
  let client = given ? givenClient(given, converter) : (await connectClient(at, converter)).client;
  stack?.onMove(async (moved) => {
    ({ client } = await connectClient(moved, converter));
  });
  const queue = config.taskQueue ?? TASK_QUEUE;
  checkWorkerKeys(await readWorkerKeys(client, at, queue, keys), at, keys, 'all');
  const encrypted = keys.keys.length > 0;
  let closing: Promise<void> | undefined;
  // The connection stays open until the process ends: closing it during a retried call would throw from a timer.
  const leave = async (onProgress?: (onWire: number) => void): Promise<void> => stack?.leave(onProgress);
  const close: Session['close'] = (onProgress) => (closing ??= leave(onProgress));
  return {
    batches: openBatchClient(() => client, queue, {
      encrypted,
      searchable: isSearchWanted(config, keys),
      ignoresTags: stack !== undefined,
    }),
    pools: openPools(() => client, queue, encrypted),
    schedules: openSchedules(() => client, {
      taskQueue: queue,
      encrypted,
      ...(stack && { tickets: openTickets(config.home) }),
    }),
    stack,
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

const localOnCluster = () =>
  problem('E602', {
    what: '--local starts embedded servers, but the settings name a Temporal cluster',
    hint: 'start the local run service with: runsheet service; then set RUNSHEET_API_URL as it prints',
  });
