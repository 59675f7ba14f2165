// Connects a command or a program to Temporal: a program's client, a cluster, or the embedded servers.

import { connectClient, givenClient } from '../temporal/connect.ts';
import { openPipelines, type PipelineClient } from '../temporal/pipelines.ts';
import { openPools, type Pools } from '../temporal/temporal-pools.ts';
import { openSchedules, type Schedules } from '../temporal/temporal-schedules.ts';
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
  /** Undefined on a cluster, where batches continue without this command. */
  readonly stack: Follower | undefined;
  /** The holder of this session's batches, and its settings. */
  readonly holder: Holder;
  readonly here: Here;
  /** Lets the batches of embedded servers continue; returns false if they do so anyway, as on a cluster. */
  work(): boolean;
  /** Whether batches continue: not on embedded servers that are only read. */
  isWorking(): boolean;
  /** Closes the session once; `onProgress` gets the number of requests in flight. */
  close(onProgress?: (onWire: number) => void): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Leaves the embedded servers if the session cannot be opened. */
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
  { config, client: programClient }: Pick<SessionParams, 'config' | 'client'>,
  at: TemporalAddress,
  stack: Follower | undefined,
): Promise<Session> {
  const keys = payloadKeys(config, stack === undefined ? 'cluster' : 'embedded');
  const converter = clientConverter(keys);
  let client = programClient
    ? givenClient(programClient, converter)
    : (await connectClient(at, converter)).client;
  stack?.onMove(async (moved) => {
    ({ client } = await connectClient(moved, converter));
  });
  const queue = config.taskQueue ?? TASK_QUEUE;
  checkWorkerKeys(await readWorkerKeys(client, at, queue, keys), at, keys, 'all');
  const encrypted = keys.keys.length > 0;
  const holder = holderHere(
    stack === undefined
      ? { kind: 'cluster', namespace: at.namespace, ...(programClient ? {} : { address: at.address }) }
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
