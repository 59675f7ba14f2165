// A command's way to Temporal: a cluster where the settings name one, else the embedded stack of this place.

import { allowOut } from '../store/allowed-folders.ts';
import type { Config } from '../host/config.ts';
import { problem } from '../errors/error.ts';
import { connectClient, temporalFrom, type TemporalAddress } from '../temporal/connect.ts';
import { openBatchClient, type BatchClient } from '../temporal/batch-client.ts';
import { TASK_QUEUE } from '../../workflows/task-queues.ts';
import { clientConverter } from '../temporal/encryption/converter.ts';
import { readWorkerKeys, refuseStrangers } from '../temporal/encryption/worker-keys.ts';
import { payloadKeys } from '../temporal/encryption/payload-keys.ts';
import { followStack, readStack, type Follower } from '../temporal/embedded/follower.ts';
import { LOCAL } from '../run-service/local-address.ts';
import type { FoundBatch } from './batch-name.ts';
import type { Printer } from './context.ts';
import { configOf } from './batch-options.ts';

export type Session = {
  readonly batches: BatchClient;
  /** undefined on a cluster, where batches go on without us. */
  readonly stack: Follower | undefined;
  /** Lets go of everything, once; `told` hears how many requests are still awaited. */
  close(told?: (onWire: number) => void): Promise<void>;
};

export type SessionParams = { readonly config: Config; readonly local: boolean; readonly printer: Printer };

/** A session for a command that only looks; undefined where there is nobody to ask. */
export async function openLivingSession(order: SessionParams): Promise<Session | undefined> {
  const cluster = temporalFrom(order.config.environment);
  if (cluster) return sessionWith(order, cluster, undefined);
  const stack = await readStack(stackOrder(order));
  return stack && sessionWith(order, stack.temporal, stack);
}

export async function openSession(order: SessionParams): Promise<Session> {
  const cluster = temporalFrom(order.config.environment);
  // The local run service is wanted also where Temporal is a cluster.
  if (cluster && order.local) throw localOnCluster();
  if (cluster) return sessionWith(order, cluster, undefined);
  // The worker knows nothing of this command's flags.
  allowOut(order.config);
  const stack = await followStack(stackOrder(order));
  try {
    return await sessionWith(order, stack.temporal, stack);
  } catch (error) {
    await stack.leave();
    throw error;
  }
}

const stackOrder = ({ config, local, printer }: SessionParams) => ({
  config,
  service: local,
  say: (words: string): void => printer.say(printer.paint('dim', words)),
});

async function sessionWith(
  { config }: Pick<SessionParams, 'config'>,
  at: TemporalAddress,
  stack: Follower | undefined,
): Promise<Session> {
  const keys = payloadKeys(config, stack === undefined ? 'cluster' : 'embedded');
  const converter = clientConverter(keys);
  let { client } = await connectClient(at, converter);
  stack?.onMove(async (moved) => {
    ({ client } = await connectClient(moved, converter));
  });
  const queue = config.taskQueue ?? TASK_QUEUE;
  refuseStrangers(await readWorkerKeys(client, at, queue, keys), at, keys, 'all');
  let closing: Promise<void> | undefined;
  // The connection ends with the process: closing it under a call that is being retried would throw from a timer.
  const letGo = async (told?: (onWire: number) => void): Promise<void> => stack?.leave(told);
  return {
    batches: openBatchClient(() => client, queue, keys.keys.length > 0),
    stack,
    close: (told) => (closing ??= letGo(told)),
  };
}

const localOnCluster = () =>
  problem('E602', {
    what: '--local starts servers of this place, and the settings name a Temporal cluster',
    hint: 'start the local run service with: runsheet service, and set RUNSHEET_API_URL to what it says',
  });

/** Opens a session for a batch that is there, and closes it after the work. */
export async function withSession(
  flags: { readonly out?: string },
  found: FoundBatch,
  printer: Printer,
  work: (session: Session) => Promise<number>,
): Promise<number> {
  const session = await openSession({
    config: configOf(flags),
    local: found.file.service.base === LOCAL,
    printer,
  });
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}
