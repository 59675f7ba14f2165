// Everything that a worker shows to operators. It is created before the worker, so that the meters can observe all of it, and
// opened when the worker can be checked.

import { type AddressInfo, createServer } from 'node:net';
import type { Logger } from 'pino';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { errorMessage } from '../errors/error.ts';
import { diskOf } from '../host/disk-space.ts';
import { fetchOutside } from '../host/outgoing.ts';
import { openStore } from '../store/open-store.ts';
import { createBatchGauges } from './batch-gauges.ts';
import { watchBatches, type WatchDeps } from './batch-watch.ts';
import { createMeters, type Meters } from './meters.ts';
import { type Listen, openMonitorServer } from './monitor-server.ts';
import { canReach, canWrite, type Checks, OK, type Readiness, watchReadiness } from './readiness.ts';

export type MonitorDeps = Pick<WatchDeps, 'recent' | 'summaryOf'> & {
  readonly listen: Listen;
  readonly checks: Checks;
  /** The place of the batches. */
  readonly out: string;
  readonly log: Logger;
};

export type Monitor = {
  readonly registry: Registry;
  readonly meters: Meters;
  /** Where Temporal's core shall show its metrics; `/metrics` includes them. */
  readonly coreAddress: string;
  open(deps: MonitorDeps): Promise<{ readonly url: string; close(): Promise<void> }>;
};

const CORE_MS = 2_000;

export async function createMonitor(): Promise<Monitor> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const meters = createMeters(registry);
  const showWorker = createWorkerGauges(registry);
  const showBatches = createBatchGauges(registry);
  const coreAddress = `127.0.0.1:${await freePort()}`;
  return {
    registry,
    meters,
    coreAddress,
    open: async ({ listen, checks, out, log, ...batches }) => {
      const batchesStore = openStore(out);
      const isHere = batchesStore.localPath !== undefined;
      const readiness = watchReadiness({ ...checks, out: isHere ? canWrite(out) : canReach(batchesStore) });
      const watched = watchBatches({
        ...batches,
        failed: (reason) => log.warn({ reason }, 'the batches could not be read for the metrics'),
      });
      const metrics = async () => {
        const [{ batches: known, ...reading }, ready, disk, core] = await Promise.all([
          watched(),
          readiness(),
          isHere ? diskOf(out).catch(() => undefined) : undefined,
          coreMetrics(coreAddress, log),
        ]);
        showBatches(known);
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

/** The core does not say which port it got, so it cannot choose one. */
function freePort(): Promise<number> {
  return new Promise((done, failed) => {
    const server = createServer();
    server.once('error', failed);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => done(port));
    });
  });
}

/** Gauges of the worker itself: whether it can work, its disk, and how current its figures are. */
type WorkerReading = {
  /** When the figures of batches were read, in milliseconds since 1970; undefined: never. */
  readonly readAtMs: number | undefined;
  readonly isComplete: boolean;
  readonly readiness: Readiness;
  /** undefined if it cannot be read. */
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
