// Everything that a worker shows to operators. It is created before the worker, so that the meters can observe all of it, and
// opened when the worker can be checked.

import { createServer, type AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { errorMessage } from '../errors/error.ts';
import { watchBatches, type WatchDeps } from './batch-watch.ts';
import { createBatchGauges } from './batch-gauges.ts';
import { createMeters, type Meters } from './meters.ts';
import { openMonitorServer, type Listen } from './monitor-server.ts';
import { diskOf } from '../host/disk-space.ts';
import { fetchOutside } from '../host/outgoing.ts';
import { canReach, canWrite, watchReadiness, type Checks } from './readiness.ts';
import { openStore } from '../store/open-store.ts';
import { createWorkerGauges } from './worker-gauges.ts';

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
