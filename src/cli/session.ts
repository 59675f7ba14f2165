// A command's way to Temporal: a cluster where the settings name one, else the embedded stack of this place.

import type { Config } from '../config.ts';
import { problem } from '../errors.ts';
import { connectClient, temporalFrom, type TemporalAddress } from '../temporal/connect.ts';
import { openBatches, type Batches } from '../temporal/batches.ts';
import { followLivingStack, followStack, type Follower } from '../temporal/embedded/follower.ts';
import type { Voice } from './context.ts';

export type Session = {
  readonly batches: Batches;
  /** undefined on a cluster, where batches go on without us. */
  readonly stack: Follower | undefined;
  /** Lets go of everything, once; `told` hears how many requests are still awaited. */
  close(told?: (onWire: number) => void): Promise<void>;
};

export type SessionOrder = { readonly config: Config; readonly local: boolean; readonly voice: Voice };

/** A session for a command that only looks; undefined where there is nobody to ask. */
export async function openLivingSession(order: SessionOrder): Promise<Session | undefined> {
  const cluster = temporalFrom(order.config.environment);
  if (cluster) return sessionWith(order, cluster, undefined);
  const stack = await followLivingStack(stackOrder(order));
  return stack && sessionWith(order, stack.temporal, stack);
}

export async function openSession(order: SessionOrder): Promise<Session> {
  const cluster = temporalFrom(order.config.environment);
  // The local run service is wanted also where Temporal is a cluster.
  if (cluster && order.local) throw localOnCluster();
  if (cluster) return sessionWith(order, cluster, undefined);
  const stack = await followStack(stackOrder(order));
  return sessionWith(order, stack.temporal, stack);
}

const stackOrder = ({ config, local, voice }: SessionOrder) => ({
  config,
  service: local,
  say: (words: string): void => voice.say(voice.paint('dim', words)),
});

async function sessionWith(
  { config }: Pick<SessionOrder, 'config'>,
  at: TemporalAddress,
  stack: Follower | undefined,
): Promise<Session> {
  let { client } = await connectClient(at);
  stack?.onMove(async (moved) => {
    ({ client } = await connectClient(moved));
  });
  let closing: Promise<void> | undefined;
  // The connection ends with the process: closing it under a call that is being retried would throw from a timer.
  const letGo = async (told?: (onWire: number) => void): Promise<void> => stack?.leave(told);
  return {
    batches: openBatches(() => client, config.taskQueue),
    stack,
    close: (told) => (closing ??= letGo(told)),
  };
}

const localOnCluster = () =>
  problem('E602', {
    what: '--local starts servers of this place, and the settings name a Temporal cluster',
    hint: 'start the local run service with: runsheet service, and set RUNSHEET_API_URL to what it says',
  });
