// The composition root of a worker process: Temporal's runtime and connection, two Temporal workers, the webhook receiver, and
// metrics if the settings ask for them.

import type { Client } from '@temporalio/client';
import type { ActivityInterceptorsFactory, Worker } from '@temporalio/worker';
import { TASK_QUEUE } from '../../workflows/task-queues.ts';
import { conversion, createWorkers } from './create-workers.ts';
import { watchActivities } from '../monitoring/activity-watch.ts';
import type { WorkerMonitor } from '../monitoring/worker-monitor.ts';
import { readStarted } from '../store/batch-file.ts';
import { openStore } from '../store/open-store.ts';
import { guardFirings } from '../temporal/authentic-firing.ts';
import { guardActivities } from '../temporal/authentic-work.ts';
import { connectWorker } from '../temporal/connect-worker.ts';
import { clientConverter } from '../temporal/encryption/converter.ts';
import { payloadKeys, type Server } from '../temporal/encryption/payload-keys.ts';
import { onlyFirstTry } from '../temporal/first-try.ts';
import { installRuntime } from '../temporal/runtime.ts';
import type { TemporalAddress } from '../temporal/temporal-address.ts';
import { openTickets } from '../temporal/schedule-tickets.ts';
import { openParts, type PartsParams } from './worker-parts.ts';

export type WorkerParams = PartsParams & {
  readonly temporal: TemporalAddress;
  /** How long to wait for Temporal's first answer. */
  readonly patienceMs: number;
};

export type RunningWorker = {
  readonly receiver: { readonly url: string; readonly port: number } | undefined;
  /** Where metrics and health are shown, if the settings ask for it. */
  readonly monitorUrl: string | undefined;
  /** The number of Queue Run calls without an answer. */
  onWire(): number;
  /** Starts no further POST; resolves when the pending ones are answered and everything is closed. */
  stop(): Promise<void>;
  /** Resolves after `stop`; rejects when a worker failed. */
  readonly done: Promise<void>;
};

export async function startWorker(params: WorkerParams): Promise<RunningWorker> {
  const { config, log, parts, temporal, server } = params;
  const { namespace } = temporal;
  const queue = config.taskQueue ?? TASK_QUEUE;
  const monitor = await monitorOf(params);
  installRuntime(log, monitor?.coreAddress);
  const keys = payloadKeys(config, server);
  const dataConverter = clientConverter(keys);
  const connected = await connectWorker(temporal, params.patienceMs, dataConverter);
  const { connection, client } = connected;
  const opened = await openParts({ ...params, meters: monitor?.meters }, { ...connected, dataConverter });
  const { deps, receiver, stopping, onWire, progressOf } = opened;
  let workers: readonly Worker[] = [];
  const states = (): readonly string[] => workers.map((worker) => worker.getState());
  const sees = parts === 'receiver-only' ? undefined : states;
  const monitorServer = await monitor?.open({ client, queue, receiver, states: sees });
  const watched = watchActivities({ log, progressOf, storeFailed: monitor?.meters.storeFailed });
  const interceptors = workerInterceptors(server, client, config.home, watched);
  if (parts !== 'receiver-only')
    workers = await createWorkers(deps, queue, { connection, namespace, ...conversion(keys), interceptors });
  const running = workers.map((worker) => worker.run());
  return {
    receiver: receiver && { url: config.webhook.url ?? receiver.url, port: receiver.port },
    monitorUrl: monitorServer?.url,
    onWire: () => onWire.count,
    stop: async () => {
      stopping.abort();
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await Promise.all(running);
      await opened.close();
      await monitorServer?.close();
      await connection.close();
    },
    done: Promise.all(running).then(() => undefined),
  };
}

/** Loaded only if the settings ask for it. */
async function monitorOf({ config, log, server }: WorkerParams): Promise<WorkerMonitor | undefined> {
  if (config.metrics === undefined) return undefined;
  const { createWorkerMonitor } = await import('../monitoring/worker-monitor.ts');
  return createWorkerMonitor(config, { listen: config.metrics, isOptional: server === 'embedded', log });
}

/** The checks before an activity runs. Every process on the machine can talk to an embedded server, so that needs one more. */
export const workerInterceptors = (
  server: Server,
  client: Client,
  home: string,
  ...others: readonly ActivityInterceptorsFactory[]
) => ({
  activity: [onlyFirstTry, ...(server === 'embedded' ? guardsOf(client, home) : []), ...others],
});

const guardsOf = (client: Client, home: string) => [
  guardActivities(client, startedBy),
  guardFirings(openTickets(home)),
];

/** The first workflow run of a batch. */
const startedBy = async (folder: string) => (await readStarted(openStore(folder)))?.workflow;
