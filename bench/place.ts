// Sets up the environment of a measurement: a folder, a run service, a Temporal server, and workers.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TemporalAddress } from '../src/temporal/temporal-address.ts';
import { runBatch, type BatchResult } from './batch.ts';
import { deploymentIdOf, runLoop, type LoopResult } from './loop.ts';
import { plus, spentBy, type Spent } from './processor.ts';
import { startTemporalOnPostgres } from './postgres.ts';
import { startService, startTemporal, startWorker, type BenchDeployment, type Served } from './servers.ts';
import { makeSheet } from './sheet.ts';

export type Backend = 'dev server' | 'PostgreSQL';

export type Work = { readonly deployment: string; readonly rows: number; readonly cap: number };

type Servers = readonly [temporal: Served, service: Served];

/** For some minutes after files are deleted, ext4 searches for inodes that were not: the next measurement would be slower. */
const closed: string[] = [];
process.once('exit', () => {
  for (const folder of closed) rmSync(folder, { recursive: true, force: true });
});

export class Place {
  readonly folder: string;
  readonly base: string;
  readonly at: TemporalAddress;
  readonly #servers: Servers;

  private constructor(folder: string, base: string, at: TemporalAddress, servers: Servers) {
    this.folder = folder;
    this.base = base;
    this.at = at;
    this.#servers = servers;
  }

  /** `program`: which program to start instead of Temporal's. */
  static async open(
    backend: Backend,
    deployments: readonly BenchDeployment[],
    program?: (temporal: string, folder: string) => string,
  ): Promise<Place> {
    const folder = mkdtempSync(join(tmpdir(), 'runsheet-bench-'));
    const service = await startService(folder, deployments);
    const temporal =
      backend === 'PostgreSQL' ? await startTemporalOnPostgres(folder) : await startTemporal(folder, program);
    return new Place(folder, service.base, temporal.at, [temporal, service]);
  }

  /** Processor time that Temporal with its database, or the run service, has used since its start. */
  processorOf(server: 'temporal' | 'service'): Spent {
    const [temporal, service] = this.#servers;
    return (server === 'temporal' ? temporal : service).pids().map(spentBy).reduce(plus);
  }

  worker(): Served {
    return startWorker(this.folder, this.at, this.base);
  }

  /** `ended` is called when the batch has ended, before its times are read. */
  async batch({ deployment, rows, cap }: Work, ended?: () => void): Promise<BatchResult> {
    const sheet = join(this.folder, `${rows}.csv`);
    await makeSheet(sheet, rows);
    return runBatch({ base: this.base, deployment, sheet, cap, folder: this.folder, at: this.at, ended });
  }

  async loop({ deployment, rows, cap }: Work): Promise<LoopResult> {
    const deploymentId = await deploymentIdOf(this.base, deployment);
    return runLoop({ base: this.base, deploymentId, rows, cap, folder: this.folder });
  }

  async close(): Promise<void> {
    for (const server of this.#servers) await server.stop();
    closed.push(this.folder);
  }
}
