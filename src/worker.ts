// The composition root of a worker: two Temporal workers (one sends, one does all other work), the webhook receiver, and the
// dependencies of the activities.

import type { Client } from '@temporalio/client';
import { DefaultLogger, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import { OwnCompletion } from '../activities/async-completion.ts';
import { DeliveredFiles } from '../activities/delivered-files.ts';
import type { Deps } from '../activities/deps.ts';
import { createSenders, createWork } from '../activities/index.ts';
import { OpenBatches } from '../activities/open-batches.ts';
import { TASK_QUEUE, workQueueOf } from '../workflows/task-queues.ts';
import type { AttemptRun } from './batch/attempt.ts';
import type { RunCompletion } from './batch/events.ts';
import type { Config } from './host/config.ts';
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
import { workflowBundle } from './temporal/bundle.ts';
import type { TemporalAddress } from './temporal/temporal-address.ts';
import { connectWorker } from './temporal/connect-worker.ts';
import { clientConverter, workerConverter } from './temporal/encryption/converter.ts';
import { identityWith } from './temporal/encryption/worker-keys.ts';
import { payloadKeys, type PayloadKeys, type Server } from './temporal/encryption/payload-keys.ts';
import { onlyFirstTry } from './temporal/first-try.ts';
import { guardFirings } from './temporal/authentic-firing.ts';
import { guardActivities } from './temporal/authentic-work.ts';
import { openTickets } from './temporal/schedule-tickets.ts';
import type { BatchName } from './batch/batch-ref.ts';
import { canReachReceiver } from './webhook/reach.ts';
import { openReceiver, type Receiver, type ReceiverDeps } from './webhook/receiver.ts';
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
  /** The number of Queue Run calls without an answer. */
  onWire(): number;
  /** Starts no further POST; resolves when the pending ones are answered and everything is closed. */
  stop(): Promise<void>;
  /** Resolves after `stop`; rejects when a worker failed. */
  readonly done: Promise<void>;
};

/** Concurrent groups of all batches; a group costs almost nothing while it waits for its POSTs. */
const CONCURRENT_GROUPS = 200;
const CONCURRENT_WORK = 40;
/** Concurrent POSTs, and concurrent other requests to one host. */
const CONNECTIONS = 256;
const READING_CONNECTIONS = 64;
const PAGES_KEPT = 32;
/** Must be longer than any POST's deadline. */
const SHUTDOWN_GRACE_MS = 150_000;
const WORKFLOWS_CACHED = 100;

export async function startWorker(params: WorkerParams): Promise<RunningWorker> {
  const { config, log, parts } = params;
  const { namespace } = params.temporal;
  const queue = config.taskQueue ?? TASK_QUEUE;
  quietCore(log);
  const keys = payloadKeys(config, params.server);
  const dataConverter = clientConverter(keys);
  const { connection, client } = await connectWorker(params.temporal, params.patienceMs, dataConverter);
  const shared = openShared(config, client, queue);
  const receiver = parts === 'no-receiver' ? undefined : await listen(params, receiverDeps(params, shared));
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
  const workers =
    parts === 'receiver-only'
      ? []
      : await createWorkers(deps, queue, {
          connection,
          namespace,
          ...conversion(keys),
          interceptors: workerInterceptors(params.server, client, config.home),
        });
  const running = workers.map((worker) => worker.run());
  return {
    receiver: receiver && { url: config.webhook.url ?? receiver.url, port: receiver.port },
    onWire: () => onWire.count,
    stop: async () => {
      stopping.abort();
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await Promise.all(running);
      await receiver?.close();
      await connection.close();
    },
    done: Promise.all(running).then(() => undefined),
  };
}

/** The dependencies that the activities and the receiver share. */
type Shared = {
  readonly batches: OpenBatches;
  readonly signals: BatchSignals;
  readonly completions: SignalQueue<RunCompletion>;
  readonly reported: ReportedRuns;
};

function openShared(config: Config, client: Client, queue: string): Shared {
  const { find } = openBatchClient(() => client, queue);
  const signals = batchSignals(client);
  return {
    batches: new OpenBatches(
      config,
      openServices(config, openTransport(READING_CONNECTIONS), openTransport(CONNECTIONS)),
      async (name) => (await find(name))?.folder,
    ),
    signals,
    completions: new SignalQueue<RunCompletion>(
      (batch, some) => signals.runsCompleted(batch, 'webhook', some),
      RUNS_PER_SIGNAL,
    ),
    reported: new ReportedRuns(),
  };
}

function activityDeps(
  { config, log, server }: WorkerParams,
  { batches, signals, completions, reported }: Shared,
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
    download,
    maker: {
      config,
      download,
      // Only the embedded servers start one.
      isLocalAllowed: server === 'embedded',
      isEncrypted: payloadKeys(config, server).keys.length > 0,
    },
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
export const workerInterceptors = (server: Server, client: Client, home: string) => ({
  activity: [onlyFirstTry, ...(server === 'embedded' ? guardsOf(client, home) : [])],
});

const guardsOf = (client: Client, home: string) => [
  guardActivities(client, startedBy),
  guardFirings(openTickets(home)),
];

/** The first workflow run of a batch. */
const startedBy = async (folder: string) => (await readStarted(openStore(folder)))?.workflow;

/** Sends the SDK's log lines to our log; the command line handles process signals. */
function quietCore(log: Logger): void {
  const logger = new DefaultLogger('WARN', ({ level, message, meta }) => {
    // The SDK logs a task that it could not start in full, with its payloads.
    const { task: _, taskEncoded: __, ...facts } = meta ?? {};
    if (level === 'ERROR') log.error(facts, message);
    // One of our two workers has no workflows on purpose.
    else if (!message.startsWith('No workflows registered')) log.warn(facts, message);
  });
  Runtime.install({
    logger,
    shutdownSignals: [],
    telemetryOptions: { logging: { forward: {}, filter: { core: 'ERROR', other: 'ERROR' } } },
  });
}

/** How a worker converts payloads; its identity names its keys. */
const conversion = (keys: PayloadKeys): Pick<WorkerOptions, 'dataConverter' | 'identity'> => ({
  dataConverter: workerConverter(keys),
  identity: identityWith(keys),
});

async function createWorkers(
  deps: Deps,
  queue: string,
  at: Pick<WorkerOptions, 'connection' | 'namespace' | 'dataConverter' | 'identity' | 'interceptors'>,
): Promise<readonly Worker[]> {
  const shared = { ...at, shutdownGraceTime: SHUTDOWN_GRACE_MS };
  return Promise.all([
    Worker.create({
      ...shared,
      taskQueue: queue,
      workflowBundle: await workflowBundle(),
      activities: createSenders(deps),
      maxConcurrentActivityTaskExecutions: CONCURRENT_GROUPS,
      // Eager dispatch starts groups without asking the server: +45 % rows per second, -40 % server work.
      maxEagerActivityReservationsPerWorkflowTask: 50,
      // After a worker dies, its sticky queue holds its workflows for this long.
      stickyQueueScheduleToStartTimeout: '1s',
      maxCachedWorkflows: WORKFLOWS_CACHED,
    }),
    Worker.create({
      ...shared,
      taskQueue: workQueueOf(queue),
      activities: createWork(deps),
      maxConcurrentActivityTaskExecutions: CONCURRENT_WORK,
      maxHeartbeatThrottleInterval: '1s',
    }),
  ]);
}

const RUNS_PER_SIGNAL = 500;

function receiverDeps(
  { config, log }: WorkerParams,
  { batches, completions, signals, reported }: Shared,
): ReceiverDeps {
  const seen = new SignalQueue<AttemptRun>((batch, runs) => signals.runsSeen(batch, runs), RUNS_PER_SIGNAL);
  return {
    secret: webhookSecret(config),
    getRun: async (batch, runId) => (await batches.find(batch))?.service.getRun(runId),
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

async function listen({ config, receiverPort }: WorkerParams, deps: ReceiverDeps): Promise<Receiver> {
  if (config.webhook.listen !== undefined) return openReceiver(deps, config.webhook.listen);
  const host = '127.0.0.1';
  try {
    return await openReceiver(deps, { host, port: receiverPort ?? 0 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return openReceiver(deps, { host, port: 0 });
  }
}
