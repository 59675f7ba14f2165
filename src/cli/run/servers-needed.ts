// The servers that a command opens once it needs them: a sheet that is refused never loads the Temporal client, which is half of what a
// command loads.

import type { Config } from '../../host/config.ts';
import type { Around } from '../../create-batch/propose.ts';
import { isClusterMeant } from '../flags/batch-options.ts';
import type { Printer } from '../context.ts';
import type { Session } from '../session.ts';

export class ServersNeeded implements AsyncDisposable {
  readonly #params: { readonly config: Config; readonly local: boolean; readonly printer: Printer };
  #opening: Promise<Session> | undefined;

  constructor(config: Config, local: boolean, printer: Printer) {
    this.#params = { config, local, printer };
  }

  open(): Promise<Session> {
    this.#opening ??= import('../session.ts').then(({ openSession }) => openSession(this.#params));
    return this.#opening;
  }

  /** What a proposal of this command may use. */
  get around(): Around {
    const { config } = this.#params;
    return { config, isCluster: () => isClusterMeant(config), servers: () => this.open() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // One that could not be opened has nothing to close.
    await (await this.#opening?.catch(() => undefined))?.close();
  }
}
