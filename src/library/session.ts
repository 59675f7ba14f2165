// Connects a command or a program to Temporal: to a given client, to a cluster, or to the embedded stack.

import { connectClient, givenClient } from '../temporal/connect.ts';
import { openPipelines, type PipelineClient } from '../temporal/pipelines.ts';
import { openPools, type Pools } from '../temporal/pools.ts';
import { openSchedules, type Schedules } from '../temporal/schedules.ts';
import { mayBeStarted } from '../temporal/worker-programs.ts';
import { isSearchWanted } from '../temporal/search-attributes.ts';
import type { Programs } from '../notices/prepare-targets.ts';
import { openTickets } from '../schedule/tickets.ts';
import type { TemporalAddress } from '../temporal/temporal-address.ts';
import type { SessionParams } from './connect-options.ts';
import { holderHere, type Holder } from '../store/holder.ts';
import { openBatchClient, type BatchClient } from '../temporal/batch-client.ts';
import { TASK_QUEUE } from '../../workflows/task-queues.ts';
import { clientConverter } from '../temporal/encryption/converter.ts';
import { readWorkerKeys, checkWorkerKeys } from '../temporal/encryption/worker-keys.ts';
import { payloadKeys } from '../temporal/encryption/payload-keys.ts';
import type { Follower } from '../temporal/embedded/follower.ts';
import type { Here } from './start/who-has.ts';

export type Session = {
  readonly batches: BatchClient;
  readonly pools: Pools;
  readonly programs: Programs;
  readonly schedules: Schedules;
  readonly pipelines: PipelineClient;
  /** undefined on a cluster, where batches continue without this command. */
  readonly stack: Follower | undefined;
  /** What has the batches of this session, and the settings. */
  readonly holder: Holder;
  readonly here: Here;
  /** From now on the batches of embedded servers go on; false if they do so anyway, as those of a cluster. */
  work(): boolean;
  /** Whether batches go on: not with embedded servers that are only looked at. */
  isWorking(): boolean;
  /** Closes the session once; calls `onProgress` with the number of requests that are still awaited. */
  close(onProgress?: (onWire: number) => void): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Leaves the stack if it cannot be opened. */
export async function openSession(
  params: Pick<SessionParams, 'config' | 'client'>,
  at: TemporalAddress,
  stack: Follower | undefined,
): Promise<Session> {
  try {
    return await sessionWith(params, at, stack);
  } catch (error) {
    await stack?.leave();
    throw error;
  }
}

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
  const holder = holderHere(
    stack === undefined
      ? { kind: 'cluster', namespace: at.namespace, ...(given ? {} : { address: at.address }) }
      : { kind: 'embedded', home: config.home, namespace: at.namespace },
  );
  let closing: Promise<void> | undefined;
  // The connection stays open until the process ends: closing it during a retried call would throw from a timer.
  const leave = async (onProgress?: (onWire: number) => void): Promise<void> => stack?.leave(onProgress);
  const close: Session['close'] = (onProgress) => (closing ??= leave(onProgress));
  return {
    batches: openBatchClient(() => client, queue, { encrypted, searchable: isSearchWanted(config, keys) }),
    pools: openPools(() => client, queue, encrypted),
    programs: { mayBeStarted: (path) => mayBeStarted(client, queue, path) },
    pipelines: openPipelines(() => client, queue, encrypted),
    schedules: openSchedules(() => client, {
      taskQueue: queue,
      encrypted,
      ...(stack && { tickets: openTickets(config.home) }),
    }),
    stack,
    holder,
    here: { config, holder },
    work: () => stack?.work() ?? false,
    isWorking: () => stack?.isWorking ?? true,
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}
