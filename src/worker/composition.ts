// Everything that the activities and the webhook receiver of one process share and depend on, in our worker or in
// that of an application.

import type { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type { NativeConnection } from '@temporalio/worker';
import type { Logger } from 'pino';
import { OwnCompletion } from '../temporal/encryption/own-payloads.ts';
import { DownloadSlots } from '../../activities/download-slots.ts';
import type { Deps } from '../../activities/deps.ts';
import { OpenBatches } from '../../activities/open-batches.ts';
import { keepLateRun, NamedRuns } from '../audit/late-runs.ts';
import type { AttemptRun } from '../batch/outcome.ts';
import type { BatchName } from '../batch/workflow-ids.ts';
import type { RunCompletion } from '../batch/events.ts';
import type { SearchedBatch } from '../batch/shown/search-attributes.ts';
import type { Config } from '../host/settings/config.ts';
import { meteredDownload, meteredSignals, type Meters } from '../monitoring/meters.ts';
import { openDownloads } from '../host/http/download.ts';
import { openServices } from '../service-client/open-services.ts';
import { openTransport } from '../host/http/transport.ts';
import { cacheRows } from '../sheet/placed-rows.ts';
import { allowedPrograms } from '../notices/prepare-targets.ts';
import { layoutOf } from '../store/batch-file.ts';
import { holderHere } from '../store/holder.ts';
import { openStore } from '../store/open-store.ts';
import { openWorkerNotes } from '../store/workers.ts';
import { openOrigins } from '../temporal/origins.ts';
import { openStandings } from './standings.ts';
import { openBatchClient } from '../temporal/batch-client.ts';
import { batchSignals } from '../temporal/batch-control.ts';
import { makeLookAgain, type PipelineRef } from '../temporal/pipelines.ts';
import { openPools } from '../temporal/temporal-pools.ts';
import { environmentFor } from '../host/child-environment.ts';
import { payloadKeys, type ServerKind } from '../temporal/encryption/payload-keys.ts';
import {
  isSearchWanted,
  registerSearchAttributes,
  searchAttributesFor,
} from '../temporal/search-attributes.ts';
import { errorMessage } from '../errors/error.ts';
import { definedOnly } from '../options/defined-only.ts';
import { canReachReceiver, originsHere } from '../host/local-address.ts';
import { openReceiver, type ReceiverDeps } from '../webhook/receiver.ts';
import { OwnRuns } from '../webhook/own-runs.ts';
import { ReportedRuns } from '../webhook/reported-runs.ts';
import { webhookSecret } from '../webhook/webhook-secret.ts';
import { SignalQueue } from '../webhook/signal-queue.ts';
import { WaitingGroups } from '../webhook/waiting-groups.ts';

export type WorkerParts = 'all' | 'no-receiver' | 'receiver-only';

export type PartsParams = {
  readonly config: Config;
  /** The kind of server: an embedded server has its own payload key. */
  readonly server: ServerKind;
  readonly parts: WorkerParts;
  /** The address of a cluster; absent if the application has connected to it. */
  readonly address?: string;
  /** The receiver's port unless the settings name one; if it is in use, any free port. */
  readonly receiverPort?: number;
  readonly log: Logger;
  /** The meters that observe this process, if any. */
  readonly meters?: Meters | undefined;
};

/** A connection of a worker, and a client on it. */
type Connected = {
  readonly connection: NativeConnection;
  readonly client: Client;
  readonly dataConverter: DataConverter;
};

/** Concurrent POSTs, and concurrent other requests to one host. */
const CONNECTIONS = 256;
const READING_CONNECTIONS = 64;
const PAGES_KEPT = 32;

export async function openParts(params: PartsParams, { client, connection, dataConverter }: Connected) {
  const { config, parts, receiverPort: port = 0, meters } = params;
  const isSearchable = isSearchWanted(config, payloadKeys(config, params.server));
  const shared = openShared(config, client, { meters, isSearchable });
  const { listen } = config.webhook;
  const receiver =
    parts === 'no-receiver'
      ? undefined
      : await openReceiver(receiverDeps(params, shared), listen ?? { host: '127.0.0.1', port }, !listen);
  const stopping = new AbortController();
  const onWire = { count: 0 };
  const { namespace } = client.options;
  if (isSearchable) await registerSearchAttributes(connection, namespace, params.log);
  const deps = activityDeps(params, shared, {
    client,
    completion: new OwnCompletion({ connection, namespace, dataConverter }),
    posts: {
      stopping: stopping.signal,
      began: () => (onWire.count += 1),
      answered: () => (onWire.count -= 1),
    },
    ownUrl: receiver?.url,
    holder: holderHere(
      params.server === 'embedded'
        ? { kind: 'embedded', home: config.home, namespace }
        : { kind: 'cluster', namespace, ...definedOnly({ address: params.address }) },
    ),
  });
  const sendHeld = (): Promise<void> => shared.completions.close();
  const close = async (): Promise<void> => {
    await sendHeld();
    await receiver?.close();
  };
  return { deps, receiver, stopping, onWire, sendHeld, close };
}

/** The dependencies that the activities and the receiver share. */
function openShared(
  config: Config,
  client: Client,
  { meters, isSearchable }: Pick<PartsParams, 'meters'> & { readonly isSearchable: boolean },
) {
  const reached = openBatchClient(() => client, config.taskQueue, {
    encrypted: false,
    searchable: isSearchable,
  });
  const { find } = reached;
  const waitingGroups = new WaitingGroups();
  const plain = waitingGroups.signals(batchSignals(client));
  const signals = meters ? meteredSignals(plain, meters) : plain;
  const [reading, posts] = [openTransport(READING_CONNECTIONS), openTransport(CONNECTIONS)];
  const completions = new SignalQueue<RunCompletion>(
    (batch, some) => signals.runsCompleted(batch, 'webhook', some),
    RUNS_PER_SIGNAL,
  );
  return {
    batches: new OpenBatches(
      config,
      openServices(config, reading, posts, meters?.requestEnded),
      async (name) => (await find(name))?.folder,
    ),
    signals,
    completions,
    waitingGroups,
    reported: new ReportedRuns(),
    ownRuns: new OwnRuns((batch) => completions.review(batch)),
    find,
    servers: { pools: openPools(() => client), batches: reached },
    searchAttributes: async (batch: SearchedBatch) =>
      isSearchable ? searchAttributesFor(client, batch) : [],
    wakePipeline: (ref: PipelineRef) => makeLookAgain(client, ref),
    meters,
  };
}

type SharedParts = ReturnType<typeof openShared>;

function activityDeps(
  { config, log, server }: PartsParams,
  shared: SharedParts,
  {
    client,
    completion,
    posts,
    ownUrl,
    holder,
  }: Pick<Deps, 'completion' | 'posts' | 'holder'> & {
    readonly client: Client;
    readonly ownUrl: string | undefined;
  },
): Deps {
  const { batches, signals, waitingGroups, reported, ownRuns, find, servers, searchAttributes, meters } =
    shared;
  const readRows = cacheRows(PAGES_KEPT);
  const { url = ownUrl } = config.webhook;
  const noteWorker = openWorkerNotes(holder);
  const download = openDownloads(CONNECTIONS);
  return {
    holder,
    standing: standingDeps(shared, client, { server, log }),
    open: async (ref) => {
      const open = await batches.open(ref).catch((error: unknown) => {
        const { batch, folder } = ref;
        log.warn({ batch, folder, reason: errorMessage(error) }, 'this worker cannot work on the batch');
        throw error;
      });
      await noteWorker(open.store);
      return open;
    },
    readRows: ({ store, file }, places) => readRows(layoutOf(store, file), file.sheet, places),
    completion,
    signals,
    waitingGroups,
    reported,
    ownRuns,
    maker: {
      config,
      download,
      isEmbedded: server === 'embedded',
      servers,
      searchAttributes,
      isEncrypted: payloadKeys(config, server).keys.length > 0,
    },
    download: meters ? meteredDownload(download, meters) : download,
    downloadSlots: new DownloadSlots(),
    webhooks: {
      secret: webhookSecret(config),
      receiver: ({ service }) => (canReachReceiver(service.base, config.webhook.url) ? url : undefined),
    },
    statusOf: async (ref) => (await find(ref))?.status,
    wakePipeline: shared.wakePipeline,
    notices: {
      ...config.notify,
      mayStart: (path) =>
        config.notify.programs.includes(path) ||
        (server === 'embedded' && allowedPrograms(config.home).includes(path)),
      environment: environmentFor('tool', config.environment),
    },
    posts,
    log,
  };
}

const standingDeps = (
  { batches }: Pick<SharedParts, 'batches'>,
  client: Client,
  { server, log }: Pick<PartsParams, 'server' | 'log'>,
): Deps['standing'] =>
  openStandings({
    storeAt: openStore,
    originOf: openOrigins(client, server),
    fileOf: async (ref) => (await batches.open(ref)).file,
    steady: () => performance.now(),
    log,
  });

const RUNS_PER_SIGNAL = 500;

function receiverDeps(
  { config, log }: PartsParams,
  { batches, completions, signals, reported, ownRuns, meters }: SharedParts,
): ReceiverDeps {
  const seen = new SignalQueue<AttemptRun>((batch, runs) => signals.runsSeen(batch, runs), RUNS_PER_SIGNAL);
  const storeLate = lateRuns(batches, log);
  return {
    secret: webhookSecret(config),
    onlyHere: config.webhook.listen === undefined && config.webhook.url === undefined,
    serviceOrigins: () => originsHere(config),
    getRun: async (batch, runId) => {
      const read = completions.expect(batch);
      try {
        const service = (await batches.find(batch))?.service;
        const run = await service?.getRun(runId);
        meters?.webhookRead(run, service?.nowMs());
        return run;
      } finally {
        read();
      }
    },
    answered: meters?.webhookAnswered,
    runEnded: async (batch, completion, mostMs) => {
      const isEnough = (held: number): boolean => held >= ownRuns.waiting(batch);
      const delivered = await completions.deliver(batch, completion, { mostMs, isEnough });
      if (delivered === 'gone') await storeLate(batch, completion);
      return delivered;
    },
    runSeen: (batch, run) => seen.deliver(batch, run),
    reported,
    ownRuns,
    log,
  };
}

/** Stores runs that ended after their batch. */
function lateRuns(batches: OpenBatches, log: Logger) {
  const named = new NamedRuns();
  return async (name: BatchName, completion: RunCompletion): Promise<void> => {
    const open = await batches.find(name);
    if (open === undefined || !(await keepLateRun(named, open.store, open.file, completion))) return;
    const { place, runId } = completion;
    log.warn({ batch: name.batch, place, run: runId }, 'a run ended after its batch; see the folder late');
  };
}
