// Starts an application of the folder `examples` with real servers.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { connectClient } from '../../src/temporal/connect.ts';
import { Stage, type Running } from '../stage/stage.ts';

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** The last one that a build writes. */
const BUILT = at('dist/workflow-bundle.js');

/** Examples import the package by its name, which means its built files. Test files that run at the same time share one build. */
export function build(): void {
  using lock = new DatabaseSync(at('node_modules/.cache/build.lock'), { timeout: 170_000 });
  lock.exec('BEGIN EXCLUSIVE');
  const isBuilt = existsSync(BUILT) && statSync(BUILT).mtimeMs > performance.timeOrigin;
  if (!isBuilt) execFileSync(process.execPath, [at('bin/build.mjs')]);
}

type Service = Running & { readonly base: string };

export class Application {
  readonly stage = new Stage();
  client!: Client;
  service!: Service;
  temporal!: Awaited<ReturnType<Stage['temporal']>>;
  #disconnect = async (): Promise<void> => undefined;
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  async open(): Promise<void> {
    const { stage } = this;
    this.temporal = await stage.temporal();
    this.service = await this.openService();
    const { TEMPORAL_ADDRESS: address = '', TEMPORAL_NAMESPACE: namespace = '' } = stage.environment;
    const connected = await connectClient({ address, namespace, from: 'the test', options: {} });
    this.client = connected.client;
    this.#disconnect = connected.close;
  }

  openService(port = 0): Promise<Service> {
    return this.stage.service(['--deployments', at('examples/deployments.json')], port);
  }

  async worker(): Promise<Running> {
    const running = this.stage.start(
      [this.#name],
      { RUNSHEET_SHEETS: this.stage.folder },
      at('examples/worker.ts'),
    );
    await running.says(/ready/);
    return running;
  }

  /** The text of a file of the application; empty if it is not there yet. */
  read(name: string): string {
    const path = this.stage.path(name);
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  }

  async close(): Promise<void> {
    await this.#disconnect();
    await this.stage.close();
  }
}
