// Everything that a worker shows to operators. The monitor is created before the worker, so that the meters can
// observe all of it, and opened when the worker can be checked.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { errorMessage, problem } from '../errors/error.ts';
import { isAddressedHere, isNamedHere, openServer, type Listen } from '../host/bounded-server.ts';
import { diskOf } from '../host/disk-space.ts';
import { fetchOutside } from '../host/http/outgoing.ts';
import { listenOnce } from '../temporal/embedded/ports.ts';
import { checkPlace, openStore } from '../store/open-store.ts';
import { createBatchGauges } from './batch-gauges.ts';
import { watchBatches, type WatchDeps } from './batch-watch.ts';
import { recentBatches } from '../temporal/recent-batches.ts';
import { createMeters } from './meters.ts';
import type { Client } from '@temporalio/client';
import type { Config } from '../host/settings/config.ts';
import { readLatestSummary } from '../results/summary.ts';
import { isAllowed } from '../store/allowed-folders.ts';

export type MonitorDeps = Pick<WatchDeps, 'recent' | 'summaryOf'> & {
  readonly listen: Listen;
  readonly checks: Checks;
  readonly out: string;
  readonly log: Logger;
};

const CORE_MS = 2_000;

export async function createMonitor() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const meters = createMeters(registry);
  const showWorker = createWorkerGauges(registry);
  const showBatches = createBatchGauges(registry);
  // The core does not say which port it got, so it cannot choose one itself.
  const coreAddress = `127.0.0.1:${await listenOnce(0)}`;
  return {
    registry,
    meters,
    /** The address where Temporal's core is to show its metrics; `/metrics` includes them. */
    coreAddress,
    open: async ({ listen, checks, out, log, ...batches }: MonitorDeps) => {
      const readiness = watchReadiness({ ...checks, out: () => checkPlace(out) });
      const watched = watchBatches({
        ...batches,
        failed: (reason) => log.warn({ reason }, 'the batches could not be read for the metrics'),
      });
      const metrics = async () => {
        const [{ batches: figures, ...reading }, ready, disk, core] = await Promise.all([
          watched(),
          readiness(),
          openStore(out).localPath && diskOf(out).catch(() => undefined),
          coreMetrics(coreAddress, log),
        ]);
        showBatches(figures);
        showWorker({ ...reading, readiness: ready, disk });
        return { type: registry.contentType, text: `${await registry.metrics()}${core}` };
      };
      return openMonitorServer({ metrics, readiness }, listen);
    },
  };
}

/** Empty while Temporal's core does not answer: its metrics must not hide ours. */
async function coreMetrics(address: string, log: Logger): Promise<string> {
  try {
    const answer = await fetchOutside(`http://${address}/metrics`, { signal: AbortSignal.timeout(CORE_MS) });
    return answer.ok ? await answer.text() : '';
  } catch (error) {
    log.debug({ reason: errorMessage(error) }, "the metrics of Temporal's core could not be read");
    return '';
  }
}

/** Gauges of the worker itself: whether it can work, its disk, and how current its figures are. */
type WorkerReading = {
  /** When the figures of batches were read, in milliseconds since 1970; undefined: never. */
  readonly readAtMs: number | undefined;
  readonly isComplete: boolean;
  readonly readiness: Readiness;
  /** undefined if the disk cannot be read. */
  readonly disk: { readonly free: number; readonly size: number } | undefined;
};

export function createWorkerGauges(registry: Registry): (reading: WorkerReading) => void {
  const gauge = (name: string, help: string, labelNames: readonly string[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const readAt = gauge(
    'runsheet_batches_read_timestamp_seconds',
    'When the figures of batches were last read; 0: never',
  );
  const incomplete = gauge('runsheet_batches_incomplete', '1 if some batches are not shown');
  const ready = gauge('runsheet_worker_ready', '1 if every check of /readyz passes');
  const check = gauge('runsheet_worker_check', '1 if this check of /readyz passes', ['check']);
  const free = gauge('runsheet_out_free_bytes', 'Free bytes on the disk of the batches');
  const size = gauge('runsheet_out_size_bytes', 'Size of the disk of the batches');
  return ({ readAtMs = 0, isComplete, readiness, disk }) => {
    readAt.set(readAtMs / 1000);
    incomplete.set(isComplete ? 0 : 1);
    ready.set(readiness.isReady ? 1 : 0);
    for (const [name, result] of Object.entries(readiness.checks))
      check.set({ check: name }, result === OK ? 1 : 0);
    if (disk === undefined) return;
    free.set(disk.free);
    size.set(disk.size);
  };
}

/**
 * The HTTP server for operators: metrics, and whether the process lives and can work. It has no authentication, so it
 * listens on loopback unless the settings name another host.
 */
type ServerDeps = {
  metrics(): Promise<{ readonly type: string; readonly text: string }>;
  readiness(): Promise<Readiness>;
};

const LIMITS = {
  connections: { most: 100, perAddress: 100 },
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
};

/** Throws E602 if the address is in use. */
async function openMonitorServer(
  deps: ServerDeps,
  { host, port: wanted }: Listen,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { port, close } = await openServer(LIMITS, { host, port: wanted }, (request, response) => {
    const isForeign = isNamedHere(host) && !isAddressedHere(request);
    void respond(deps, request, response, isForeign);
  }).catch((error: Error) => {
    throw unusable(host, wanted, error);
  });
  return { url: `http://${host || 'localhost'}:${port}`, close };
}

const unusable = (host: string, port: number, error: Error) =>
  problem('E602', {
    what: `the metrics cannot be shown at ${host}:${port}: ${errorMessage(error)}`,
    hint: 'choose another address with --metrics or RUNSHEET_METRICS; port 0 takes any free port',
  });

async function respond(
  deps: ServerDeps,
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
  isForeign: boolean,
) {
  const [path = ''] = url.split('?');
  const isRead = method === 'GET' || method === 'HEAD';
  const answer = isForeign ? FOREIGN : isRead ? await answerTo(deps, path).catch(failed) : REFUSED;
  response.writeHead(answer.status, { 'content-type': answer.type, 'cache-control': 'no-store' });
  response.end(answer.text);
}

type MonitorAnswer = { readonly status: number; readonly type: string; readonly text: string };

const TEXT = 'text/plain; charset=utf-8';
const FOREIGN: MonitorAnswer = {
  status: 403,
  type: TEXT,
  text: 'a page of another site has sent this request\n',
};
const REFUSED: MonitorAnswer = { status: 405, type: TEXT, text: 'only GET\n' };
const failed = (error: unknown): MonitorAnswer => ({
  status: 500,
  type: TEXT,
  text: `${errorMessage(error)}\n`,
});

async function answerTo(deps: ServerDeps, path: string): Promise<MonitorAnswer> {
  switch (path) {
    case '/metrics':
      return { status: 200, ...(await deps.metrics()) };
    // A process whose event loop stands still does not answer.
    case '/healthz':
      return { status: 200, type: TEXT, text: 'ok\n' };
    case '/readyz': {
      const { isReady, checks } = await deps.readiness();
      const text = `${JSON.stringify({ ready: isReady, checks })}\n`;
      return { status: isReady ? 200 : 503, type: 'application/json', text };
    }
    default:
      return { status: 404, type: TEXT, text: '/metrics, /healthz or /readyz\n' };
  }
}

type WatchedWorker = {
  readonly client: Client;
  readonly queue: string;
  /** Whether the worker should have a receiver, and whether it takes webhooks. */
  readonly receiver: { isReady(): boolean } | undefined;
  /** The states of the Temporal workers of the process; undefined if it should have none. */
  readonly states: (() => readonly string[]) | undefined;
};

export type WorkerMonitor = Awaited<ReturnType<typeof createWorkerMonitor>>;

/** More batches would make the response large; the figures of further batches are not shown. */
const BATCHES_SHOWN = 100;

/**
 * `isOptional`: the servers of one machine also work without metrics, because servers of another folder may use the
 * port.
 */
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
      const { client, queue } = worker;
      const opening = monitor.open({
        listen,
        out: config.out,
        log,
        recent: (endedSince) => recentBatches(client, queue, { endedSince, most: BATCHES_SHOWN }),
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
    temporal: () => client.workflowService.describeNamespace({ namespace }),
    ...(states && {
      workers: async () => {
        const workers = states();
        if (workers.length === 0 || workers.some((state) => state !== 'RUNNING'))
          throw new Error(`the workers are ${workers.join(' and ').toLowerCase() || 'starting'}`);
      },
    }),
    ...(receiver && {
      receiver: async () => {
        if (!receiver.isReady()) throw new Error('the receiver is stopping');
      },
    }),
  };
}

/** Checks by name; each throws its fault. */
export type Checks = Readonly<Record<string, () => Promise<unknown>>>;

export type Readiness = {
  readonly isReady: boolean;
  /** The result of each check: `ok`, or its fault. */
  readonly checks: Readonly<Record<string, string>>;
};

const CHECK_MS = 3_000;
const FRESH_MS = 1_000;

/** A function that does all checks, at most once a second. */
export function watchReadiness(checks: Checks): () => Promise<Readiness> {
  let last: Promise<Readiness> | undefined;
  let at = -Infinity;
  return () => {
    if (last === undefined || performance.now() - at >= FRESH_MS) {
      at = performance.now();
      last = checkAll(checks);
    }
    return last;
  };
}

async function checkAll(checks: Checks): Promise<Readiness> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await resultOf(check)] as const),
  );
  return { isReady: results.every(([, result]) => result === OK), checks: Object.fromEntries(results) };
}

const OK = 'ok';

/** A check that does not end has failed: Temporal may be unreachable without an error. */
async function resultOf(check: Checks[string]): Promise<string> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${CHECK_MS / 1000} s`)), CHECK_MS);
  try {
    await Promise.race([check(), late.promise]);
    return OK;
  } catch (error) {
    return errorMessage(error);
  } finally {
    clearTimeout(timer);
  }
}
