// The composition root of a worker: two Temporal workers (one sends, one does all other work), the webhook receiver, and the
// dependencies of the activities.

import type { Client } from '@temporalio/client';
import type { ActivityInterceptorsFactory, Worker, WorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import { OwnCompletion } from '../activities/async-completion.ts';
import { DeliveredFiles } from '../activities/delivered-files.ts';
import type { Deps } from '../activities/deps.ts';
import { createSenders, createWork } from '../activities/index.ts';
import { OpenBatches } from '../activities/open-batches.ts';
import { TASK_QUEUE } from '../workflows/task-queues.ts';
import type { AttemptRun } from './batch/attempt.ts';
import type { RunCompletion } from './batch/events.ts';
import type { Progress } from './batch/progress.ts';
import type { Config } from './host/config.ts';
import { watchActivities } from './monitoring/activity-watch.ts';
import type { Meters } from './monitoring/meters.ts';
import { meteredDownload } from './monitoring/metered-download.ts';
import { meteredSignals } from './monitoring/metered-signals.ts';
import type { WorkerMonitor } from './monitoring/worker-monitor.ts';
import { keepLateRun } from './results/late-runs.ts';
import { openDownloads } from './run-service/download.ts';
import { openServices } from './run-service/open-services.ts';
import { openTransport } from './run-service/transport.ts';
import { cacheRows } from './sheet/placed-rows.ts';
import { layoutOf, readStarted } from './store/batch-file.ts';
import { openStore } from './store/open-store.ts';
import { openWorkerNotes } from './store/workers.ts';
import { openBatchClient } from './temporal/batch-client.ts';
import { batchSignals } from './temporal/batch-signals.ts';
import type { BatchSignals } from './batch/signals.ts';
import { createWorkers } from './temporal/create-workers.ts';
import type { TemporalAddress } from './temporal/temporal-address.ts';
import { connectWorker } from './temporal/connect-worker.ts';
import { clientConverter, workerConverter } from './temporal/encryption/converter.ts';
import { identityWith } from './temporal/encryption/worker-keys.ts';
import { payloadKeys, type PayloadKeys, type Server } from './temporal/encryption/payload-keys.ts';
import { onlyFirstTry } from './temporal/first-try.ts';
import { installRuntime } from './temporal/runtime.ts';
import { guardActivities } from './temporal/authentic-work.ts';
import type { BatchName } from './batch/batch-ref.ts';
import { canReachReceiver } from './webhook/reach.ts';
import { openReceiverAt, type ReceiverDeps } from './webhook/receiver.ts';
import { ReportedRuns } from './webhook/reported-runs.ts';
import { webhookSecret } from './webhook/secret.ts';
import { SignalQueue } from './webhook/signal-queue.ts';

export type WorkerParts = 'all' | 'no-receiver' | 'receiver-only';

export type WorkerParams = {
  readonly config: Config;
  readonly temporal: TemporalAddress;
  /** Which kind of server it is: an embedded one has its own payload key. */
  readonly server: Server;
  readonly parts: WorkerParts;
  /** The receiver's port unless the settings give one; if it is in use, a free port is taken. */
  readonly receiverPort?: number;
  /** How long to wait for Temporal's first answer. */
  readonly patienceMs: number;
  readonly log: Logger;
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

/** Concurrent POSTs, and concurrent other requests to one host. */
const CONNECTIONS = 256;
const READING_CONNECTIONS = 64;
const PAGES_KEPT = 32;

export async function startWorker(params: WorkerParams): Promise<RunningWorker> {
  const { config, log, parts } = params;
  const { namespace } = params.temporal;
  const queue = config.taskQueue ?? TASK_QUEUE;
  const monitor = await monitorOf(params);
  installRuntime(log, monitor?.coreAddress);
  const keys = payloadKeys(config, params.server);
  const dataConverter = clientConverter(keys);
  const { connection, client } = await connectWorker(params.temporal, params.patienceMs, dataConverter);
  const shared = openShared(config, client, queue, monitor?.meters);
  const receiver =
    parts === 'no-receiver'
      ? undefined
      : await openReceiverAt(receiverDeps(params, shared), config.webhook.listen, params.receiverPort);
  const stopping = new AbortController();
  const onWire = { count: 0 };
  const deps = activityDeps(params, shared, {
    completion: new OwnCompletion({ connection, namespace, dataConverter }),
    posts: {
      stopping: stopping.signal,
      began: () => (onWire.count += 1),
      answered: () => (onWire.count -= 1),
    },
    ownUrl: receiver?.url,
  });
  let workers: readonly Worker[] = [];
  const states = (): readonly string[] => workers.map((worker) => worker.getState());
  const monitorServer = await monitor?.open({
    client,
    queue,
    receiver,
    states: parts === 'receiver-only' ? undefined : states,
  });
  const watched = watchActivities({
    log,
    progressOf: shared.progressOf,
    storeFailed: shared.meters?.storeFailed,
  });
  if (parts !== 'receiver-only')
    workers = await createWorkers({ senders: createSenders(deps), work: createWork(deps) }, queue, {
      connection,
      namespace,
      ...conversion(keys),
      interceptors: workerInterceptors(params.server, client, watched),
    });
  const running = workers.map((worker) => worker.run());
  return {
    receiver: receiver && { url: config.webhook.url ?? receiver.url, port: receiver.port },
    monitorUrl: monitorServer?.url,
    onWire: () => onWire.count,
    stop: async () => {
      stopping.abort();
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await Promise.all(running);
      await receiver?.close();
      await monitorServer?.close();
      await connection.close();
    },
    done: Promise.all(running).then(() => undefined),
  };
}

/** Loaded only if the settings ask for it. */
async function monitorOf({ config, log, server }: WorkerParams): Promise<WorkerMonitor | undefined> {
  if (config.metrics === undefined) return undefined;
  const { createWorkerMonitor } = await import('./monitoring/worker-monitor.ts');
  return createWorkerMonitor(config, { listen: config.metrics, isOptional: server === 'embedded', log });
}

/** The dependencies that the activities and the receiver share. */
type Shared = {
  readonly batches: OpenBatches;
  readonly signals: BatchSignals;
  readonly completions: SignalQueue<RunCompletion>;
  readonly reported: ReportedRuns;
  readonly progressOf: (name: BatchName) => Promise<Progress | undefined>;
  /** What observes this process, if anything does. */
  readonly meters: Meters | undefined;
};

function openShared(config: Config, client: Client, queue: string, meters: Meters | undefined): Shared {
  const { find, status } = openBatchClient(() => client, queue);
  const signals = meters ? meteredSignals(batchSignals(client), meters) : batchSignals(client);
  const [reading, posts] = [openTransport(READING_CONNECTIONS), openTransport(CONNECTIONS)];
  return {
    batches: new OpenBatches(
      config,
      openServices(config, reading, posts, meters?.requestEnded),
      async (name) => (await find(name))?.folder,
    ),
    signals,
    completions: new SignalQueue<RunCompletion>(
      (batch, some) => signals.runsCompleted(batch, 'webhook', some),
      RUNS_PER_SIGNAL,
    ),
    reported: new ReportedRuns(),
    progressOf: async (name) => (await status(name)).progress,
    meters,
  };
}

function activityDeps(
  { config, log, server }: WorkerParams,
  { batches, signals, completions, reported, meters }: Shared,
  { completion, posts, ownUrl }: Pick<Deps, 'completion' | 'posts'> & { readonly ownUrl: string | undefined },
): Deps {
  const readRows = cacheRows(PAGES_KEPT);
  const { url = ownUrl } = config.webhook;
  const noteWorker = openWorkerNotes(server);
  const download = openDownloads(CONNECTIONS);
  return {
    open: async (ref) => {
      const open = await batches.open(ref);
      await noteWorker(open.store);
      return open;
    },
    readRows: ({ store, file }, places) => readRows(layoutOf(store, file), file.sheet, places),
    completion,
    signals,
    nextSignal: (batch) => completions.nextSignal(batch),
    reported,
    download: meters ? meteredDownload(download, meters) : download,
    delivered: new DeliveredFiles(),
    webhooks: {
      secret: webhookSecret(config),
      receiver: ({ service }) => (canReachReceiver(service.base, config.webhook.url) ? url : undefined),
    },
    posts,
    log,
  };
}

/** The checks before an activity runs. Every process on the machine can talk to an embedded server, so that needs one more. */
export const workerInterceptors = (
  server: Server,
  client: Client,
  ...others: readonly ActivityInterceptorsFactory[]
) => ({
  activity: [onlyFirstTry, ...(server === 'embedded' ? [guardActivities(client, startedBy)] : []), ...others],
});

/** The first workflow run of a batch. */
const startedBy = async (folder: string) => (await readStarted(openStore(folder)))?.workflow;

/** How a worker converts payloads; its identity names its keys. */
const conversion = (keys: PayloadKeys): Pick<WorkerOptions, 'dataConverter' | 'identity'> => ({
  dataConverter: workerConverter(keys),
  identity: identityWith(keys),
});

const RUNS_PER_SIGNAL = 500;

function receiverDeps(
  { config, log }: WorkerParams,
  { batches, completions, signals, reported, meters }: Shared,
): ReceiverDeps {
  const seen = new SignalQueue<AttemptRun>((batch, runs) => signals.runsSeen(batch, runs), RUNS_PER_SIGNAL);
  return {
    secret: webhookSecret(config),
    getRun: async (batch, runId) => {
      const service = (await batches.find(batch))?.service;
      const run = await service?.getRun(runId);
      meters?.webhookRead(run, service?.nowMs());
      return run;
    },
    answered: meters?.webhookAnswered,
    runEnded: async (batch, completion) => {
      const delivered = await completions.deliver(batch, completion);
      if (delivered === 'gone') await storeLate(batches, log, batch, completion);
      return delivered;
    },
    runSeen: (batch, run) => seen.deliver(batch, run),
    reported,
    log,
  };
}

/** Stores a run that ended after its batch. */
async function storeLate(
  batches: OpenBatches,
  log: Logger,
  name: BatchName,
  completion: RunCompletion,
): Promise<void> {
  const found = await batches.find(name);
  if (found === undefined || !(await keepLateRun(found.store, found.file, completion))) return;
  const { place, runId } = completion;
  log.warn({ batch: name.batch, place, run: runId }, 'a run ended after its batch; see the folder late');
}
