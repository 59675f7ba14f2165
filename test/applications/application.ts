// Starts an application of the folder `examples` with real servers.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { connectClient } from '../../src/temporal/connect.ts';
import { Stage, type Running } from '../stage/stage.ts';

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

type ApplicationService = Running & { readonly base: string };

export class Application {
  readonly stage = new Stage();
  client!: Client;
  service!: ApplicationService;
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

  openService(port = 0): Promise<ApplicationService> {
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
