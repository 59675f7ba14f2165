// The composition root of a worker: two Temporal workers (what sends, and all other work), the webhook receiver, and the
// hands that the activities are given.

import { DefaultLogger, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import { createSenders, createWork } from '../activities/index.ts';
import { OwnCompletion } from '../activities/completion.ts';
import { DeliveredFiles } from '../activities/delivered-files.ts';
import type { BatchPlace, Hands, OpenBatch } from '../activities/hands.ts';
import { isAllowed } from './allowed-folders.ts';
import { TASK_QUEUE, workQueueOf } from './batch/ids.ts';
import type { End, Seen } from './batch/messages.ts';
import type { Config } from './config.ts';
import { problem } from './errors.ts';
import { openDownloads } from './run-service/download.ts';
import { openServices, type Services } from './run-service/services.ts';
import { openTransport } from './run-service/transport.ts';
import { cachePages } from './sheet/page-cache.ts';
import { readBatchFile, readStarted, type BatchFile } from './store/batch-file.ts';
import { folderStore } from './store/folder.ts';
import type { Store } from './store/store.ts';
import { batchLine, openBatches, type BatchLine, type Known } from './temporal/batches.ts';
import { workflowBundle } from './temporal/bundle.ts';
import { connectWorker, type TemporalAddress } from './temporal/connect.ts';
import { guardActivities } from './temporal/genuine.ts';
import { noteLate } from './results/late.ts';
import { clientConverter, workerConverter } from './temporal/encryption/converter.ts';
import { identityWith } from './temporal/encryption/fleet.ts';
import { payloadKeys, type PayloadKeys, type Server } from './temporal/encryption/keys.ts';
import { Outbox } from './webhook/outbox.ts';
import { canReachReceiver } from './webhook/reach.ts';
import { openReceiver, type Receiver } from './webhook/receiver.ts';
import { webhookSecret } from './webhook/secret.ts';

export type WorkerParts = 'all' | 'no-receiver' | 'receiver-only';

export type WorkerOrder = {
  readonly config: Config;
  readonly temporal: TemporalAddress;
  /** Whose server that is: an embedded one has a payload key of its own. */
  readonly server: Server;
  readonly parts: WorkerParts;
  /** Where the receiver listens unless the settings say; a taken port is replaced by a free one. */
  readonly receiverPort?: number;
  /** How long Temporal may take to answer for the first time. */
  readonly patienceMs: number;
  readonly log: Logger;
};

export type RunningWorker = {
  readonly receiver: { readonly url: string; readonly port: number } | undefined;
  /** Queue Run calls that have begun and have no answer. */
  onWire(): number;
  /** No POST begins any more; resolves when those on the wire are answered and all is closed. */
  stop(): Promise<void>;
  /** Resolves after `stop`; rejects when a worker failed. */
  readonly done: Promise<void>;
};

/** Groups of many batches at once; each waits for its POSTs and costs next to nothing. */
const GROUPS_AT_ONCE = 200;
const WORK_AT_ONCE = 40;
/** POSTs on the wire at once, and everything else that is asked of one host. */
const CONNECTIONS = 256;
const PAGES_KEPT = 32;
/** Longer than any POST's deadline. */
const SHUTDOWN_GRACE_MS = 150_000;
const WORKFLOWS_CACHED = 100;

export async function startWorker(order: WorkerOrder): Promise<RunningWorker> {
  const { config, log, parts } = order;
  const { namespace } = order.temporal;
  const queue = config.taskQueue ?? TASK_QUEUE;
  quietCore(log);
  const keys = payloadKeys(config, order.server);
  const dataConverter = clientConverter(keys);
  const { connection, client } = await connectWorker(order.temporal, order.patienceMs, dataConverter);
  const batches = batchLine(client);
  const { find } = openBatches(() => client, queue);
  const places = openPlaces(config, openServices(config, openTransport(CONNECTIONS)), find);
  const ends = new Outbox<End>((batch, news) => batches.tellEnds(batch, 'webhook', news), ENDS_PER_SIGNAL);
  const receiver = parts === 'no-receiver' ? undefined : await listen(order, batches, places, ends);
  const stopping = new AbortController();
  const wire = { count: 0 };
  const hands: Hands = {
    open: places.open,
    readRows: cachePages(PAGES_KEPT),
    activities: new OwnCompletion({ connection, namespace, dataConverter }),
    batches,
    ride: (batch) => ends.ride(batch),
    download: openDownloads(CONNECTIONS),
    delivered: new DeliveredFiles(),
    webhooks: { secret: webhookSecret(config), receiver: () => config.webhook.url ?? receiver?.url },
    wire: { stopping: stopping.signal, began: () => (wire.count += 1), answered: () => (wire.count -= 1) },
    log,
  };
  const workers =
    parts === 'receiver-only'
      ? []
      : await createWorkers(hands, queue, {
          connection,
          namespace,
          ...speech(keys),
          ...(order.server === 'embedded'
            ? { interceptors: { activity: [guardActivities(client, begunBy)] } }
            : {}),
        });
  const running = workers.map((worker) => worker.run());
  return {
    receiver: receiver && { url: hands.webhooks.receiver() ?? receiver.url, port: receiver.port },
    onWire: () => wire.count,
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

/** The core's own lines go into our log; signals are the command line's business. */
function quietCore(log: Logger): void {
  const logger = new DefaultLogger('WARN', ({ level, message, meta }) => {
    // A task that could not be begun is logged whole by the SDK, with its payloads.
    const { task: _, taskEncoded: __, ...facts } = meta ?? {};
    if (level === 'ERROR') log.error(facts, message);
    // Half of our workers have no workflows on purpose.
    else if (!message.startsWith('No workflows registered')) log.warn(facts, message);
  });
  Runtime.install({
    logger,
    shutdownSignals: [],
    telemetryOptions: { logging: { forward: {}, filter: { core: 'ERROR', other: 'ERROR' } } },
  });
}

/** What a worker reads and writes, and what it says of that. */
const speech = (keys: PayloadKeys): Pick<WorkerOptions, 'dataConverter' | 'identity'> => ({
  dataConverter: workerConverter(keys),
  identity: identityWith(keys),
});

async function createWorkers(
  hands: Hands,
  queue: string,
  at: Pick<WorkerOptions, 'connection' | 'namespace' | 'dataConverter' | 'identity' | 'interceptors'>,
): Promise<readonly Worker[]> {
  const shared = { ...at, shutdownGraceTime: SHUTDOWN_GRACE_MS };
  return Promise.all([
    Worker.create({
      ...shared,
      taskQueue: queue,
      workflowBundle: await workflowBundle(),
      activities: createSenders(hands),
      maxConcurrentActivityTaskExecutions: GROUPS_AT_ONCE,
      // Sending at once instead of by way of the server: +45 % rows a second, -40 % of the server's work.
      maxEagerActivityReservationsPerWorkflowTask: 50,
      // The queue of a dead worker hides its workflows for this long.
      stickyQueueScheduleToStartTimeout: '1s',
      maxCachedWorkflows: WORKFLOWS_CACHED,
    }),
    Worker.create({
      ...shared,
      taskQueue: workQueueOf(queue),
      activities: createWork(hands),
      maxConcurrentActivityTaskExecutions: WORK_AT_ONCE,
      maxHeartbeatThrottleInterval: '1s',
    }),
  ]);
}

type Places = {
  open(place: BatchPlace): Promise<OpenBatch>;
  /** A batch of which only the id is known. */
  find(batch: string): Promise<OpenBatch | undefined>;
};

/** Batch folders by their place; batch.json never changes, so it is read once. */
function openPlaces(
  config: Config,
  services: Services,
  findBatch: (batch: string) => Promise<Known | undefined>,
): Places {
  const known = new Map<string, { readonly file: BatchFile; readonly store: Store }>();

  const open = async ({ batch, folder }: BatchPlace): Promise<OpenBatch> => {
    const place = known.get(batch) ?? (await readPlace(folder, config));
    known.set(batch, place);
    const { file } = place;
    const webhooks = file.webhooks && canReachReceiver(file.service.base, config.webhook.url);
    return { ...place, file: { ...file, webhooks }, service: services.at(file.service) };
  };

  const find = async (batch: string): Promise<OpenBatch | undefined> => {
    const folder = known.get(batch)?.store.location ?? (await findBatch(batch))?.folder;
    return folder ? open({ batch, folder }) : undefined;
  };

  return { open, find };
}

async function readPlace(
  folder: string,
  config: Config,
): Promise<{ readonly file: BatchFile; readonly store: Store }> {
  if (!isAllowed(folder, config)) throw problem('E411', { folder, out: config.out });
  const store = folderStore(folder);
  const file = await readBatchFile(store);
  if (file === undefined) throw problem('E504', { what: `there is no batch in ${folder}` });
  return { file, store };
}

const begunBy = (folder: string) => readStarted(folderStore(folder));

const ENDS_PER_SIGNAL = 500;

/** Notes runs that end when their batch is done, one after the other. */
function lateTeller(places: Places, log: Logger): (batch: string, end: End) => Promise<void> {
  let last: Promise<unknown> = Promise.resolve();
  return async (batch, end) => {
    const before = last;
    const noting = before.then(async () => {
      const store = (await places.find(batch))?.store;
      if (store !== undefined && (await noteLate(store, end)))
        log.warn({ batch, row: end.row, run: end.runId }, 'a run ended after its batch: late.jsonl names it');
    });
    last = noting.catch(() => undefined);
    await noting;
  };
}

async function listen(
  { config, receiverPort, log }: WorkerOrder,
  batches: BatchLine,
  places: Places,
  ends: Outbox<End>,
): Promise<Receiver> {
  const seen = new Outbox<Seen>((batch, news) => batches.tellSeen(batch, news), ENDS_PER_SIGNAL);
  const tellLate = lateTeller(places, log);
  const hands = {
    secret: webhookSecret(config),
    getRun: async (batch: string, runId: string) => (await places.find(batch))?.service.getRun(runId),
    tellEnd: async (batch: string, end: End) => {
      const delivered = await ends.deliver(batch, end);
      if (delivered === 'gone') await tellLate(batch, end);
      return delivered;
    },
    tellSeen: (batch: string, one: Seen) => seen.deliver(batch, one),
    log,
  };
  if (config.webhook.listen !== undefined) return openReceiver(hands, config.webhook.listen);
  const host = '127.0.0.1';
  try {
    return await openReceiver(hands, { host, port: receiverPort ?? 0 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return openReceiver(hands, { host, port: 0 });
  }
}
