// What a worker shows to operators about itself and the batches of its cluster.

import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Config } from '../host/config.ts';
import { errorMessage } from '../errors/error.ts';
import { readLatestSummary } from '../results/summary.ts';
import { isAllowed } from '../store/allowed-folders.ts';
import { openStore } from '../store/open-store.ts';
import { recentBatches } from '../temporal/recent-batches.ts';
import type { Listen } from '../host/bounded-server.ts';
import { createMonitor } from './monitor.ts';
import type { Checks } from './readiness.ts';

/** The parts of a worker that can fail. */
type WatchedWorker = {
  readonly client: Client;
  /** The task queues of its batches. */
  readonly queues: readonly string[];
  /** Whether the worker should have a receiver, and whether it takes webhooks. */
  readonly receiver: { isReady(): boolean } | undefined;
  /** The states of its Temporal workers; undefined if it should have none. */
  readonly states: (() => readonly string[]) | undefined;
};

export type WorkerMonitor = Awaited<ReturnType<typeof createWorkerMonitor>>;

/** More batches would make the answer large; the figures of the others are not shown. */
const BATCHES_SHOWN = 100;

/** `isOptional`: servers of one machine also work without metrics, because those of another folder may have the port. */
export async function createWorkerMonitor(
  config: Config,
  {
    listen,
    isOptional,
    log,
  }: { readonly listen: Listen; readonly isOptional: boolean; readonly log: Logger },
) {
  const monitor = await createMonitor();
  const { meters, coreAddress } = monitor;
  return {
    meters,
    coreAddress,
    /** undefined if the address is in use and `isOptional`. */
    open: async (worker: WatchedWorker) => {
      const { client, queues } = worker;
      const opening = monitor.open({
        listen,
        out: config.out,
        log,
        recent: (endedSince) => recentBatches(client, queues, { endedSince, most: BATCHES_SHOWN }),
        summaryOf: async ({ folder }) =>
          isAllowed(folder, config) ? readLatestSummary(openStore(folder, 'existing')) : undefined,
        checks: checksOf(worker),
      });
      return opening.catch((error: unknown) => {
        if (!isOptional) throw error;
        log.warn({ reason: errorMessage(error) }, 'the worker runs without metrics');
        return undefined;
      });
    },
  };
}

function checksOf({ client, receiver, states }: WatchedWorker): Checks {
  const { namespace } = client.options;
  return {
    temporal: async () => {
      await client.workflowService.describeNamespace({ namespace });
      return undefined;
    },
    ...(states && {
      workers: async () => {
        const all = states();
        const isPolling = all.length > 0 && all.every((state) => state === 'RUNNING');
        return isPolling ? undefined : `the workers are ${all.join(' and ').toLowerCase() || 'starting'}`;
      },
    }),
    ...(receiver && {
      receiver: async () => (receiver.isReady() ? undefined : 'the receiver is stopping'),
    }),
  };
}
