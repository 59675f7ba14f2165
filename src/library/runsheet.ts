// The connection of a program: creates and finds batches.

import { takeSignals, type Abortable } from './abortable.ts';
import { BatchHandle } from './handle/batch-handle.ts';
import { compareBatches, type Comparison, type CompareOptions } from './report/compared-batches.ts';
import { listedStatuses, statusNow, type BatchStatus } from './handle/batch-status.ts';
import { planOf, type Plan } from './start/batch-plan.ts';
import type { ConnectOptions } from './connect-options.ts';
import type { Source, BatchOptions } from './start/program-rows.ts';
import { Deployments } from './deployments.ts';
import { Schedules } from './schedules.ts';
import { Servers } from './servers.ts';
import { startBatch } from './start/start-batch.ts';
import { Pools } from './pools.ts';

/** A connection to the servers and to the folder of the batches. */
export class Runsheet implements AsyncDisposable {
  readonly #servers: Servers;

  constructor(servers: Servers) {
    this.#servers = servers;
  }

  /** Deployments of the run service. */
  get deployments(): Deployments {
    return new Deployments(this.#servers);
  }

  /** Slots that batches share. */
  get pools(): Pools {
    return new Pools(this.#servers);
  }

  /** Sheets that run at fixed times. */
  get schedules(): Schedules {
    return new Schedules(this.#servers);
  }

  /** Checks a sheet and forecasts its cost and time, without sending anything. */
  plan(sheet: Source, options: BatchOptions & Abortable): Promise<Plan> {
    return planOf(this.#servers, sheet, options);
  }

  /**
   * Resolves when every row is read and checked and the batch runs. The same rows make no second batch: the handle is that of the
   * one that runs already.
   */
  async start(sheet: Source, options: BatchOptions & Abortable): Promise<BatchHandle> {
    const batchFolder = await startBatch(this.#servers, sheet, options);
    return new BatchHandle(this.#servers, batchFolder.batch, batchFolder);
  }

  /** Reads nothing yet; the methods of the handle throw E502 if there is no such batch. */
  getHandle(batchId: string): BatchHandle {
    return new BatchHandle(this.#servers, batchId);
  }

  /** The batches in the store, newest first, without those whose batch.json cannot be read. One with other damaged files is `unreadable`. */
  async *list(_call?: Abortable): AsyncGenerator<BatchStatus> {
    const { folders } = await listedStatuses(this.#servers.config.out);
    const { leave, ...connection } = await this.#servers.join();
    try {
      for (const { batchFolder, own } of folders) yield await statusNow(connection, batchFolder, own);
    } finally {
      await leave();
    }
  }

  /** Compares the same rows in two batches and writes a page of both side by side. Throws E570 if they share no row. */
  compare(a: string, b: string, options?: CompareOptions): Promise<Comparison> {
    return compareBatches(this.#servers.config, [a, b], options);
  }

  /** Leaves the embedded servers, which then end; their batches continue with the next `start` or `resume`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#servers[Symbol.asyncDispose]();
  }
}

takeSignals(Runsheet.prototype);

/**
 * Connects to a Temporal cluster, if a client is given or the settings name one. Otherwise embedded servers are started when a batch
 * has to run. Throws E602 for invalid settings, E401 if the cluster cannot be reached.
 */
export async function connect(options: ConnectOptions & Abortable = {}): Promise<Runsheet> {
  return connecting.connect(options);
}

const connecting = takeSignals({
  connect: async (options: ConnectOptions & Abortable): Promise<Runsheet> => {
    const servers = new Servers(options);
    if (servers.isCluster) await servers.open(false);
    return new Runsheet(servers);
  },
});
