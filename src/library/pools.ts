// Pools for programs: slots that batches share.

import { problem } from '../errors/error.ts';
import type { Pool } from '../temporal/temporal-pools.ts';
import { takeSignals, type Abortable } from './abortable.ts';
import type { Servers } from './servers.ts';
import type { Session } from './session.ts';

export class Pools {
  readonly #servers: Servers;

  constructor(servers: Servers) {
    this.#servers = servers;
  }

  /** Sorted by name. Throws E544 if no servers are running. */
  list(_call?: Abortable): Promise<readonly Pool[]> {
    return this.#reading(({ pools }) => pools.list());
  }

  /** Throws E540 if there is no such pool, E544 if no servers are running. */
  show(name: string, _call?: Abortable): Promise<Pool> {
    return this.#reading(({ pools }) => pools.show(name));
  }

  #reading<T>(read: (session: Session) => Promise<T>): Promise<T> {
    return this.#servers.asking(async (session) => {
      if (session === undefined) throw problem('E544', {});
      return read(session);
    });
  }

  /** Makes the pool, or changes its number of slots. Throws E543 if no worker confirms it in time. */
  async set(name: string, { size }: Abortable & { readonly size: number }): Promise<Pool> {
    const { pools } = await this.#servers.open(false);
    return pools.set(name, { size });
  }

  /** Frees the slots of a terminated batch, none of whose runs is left. Throws E541 and E542. */
  async release(name: string, batchId: string, _call?: Abortable): Promise<Pool> {
    const { pools } = await this.#servers.open(false);
    return pools.release(name, batchId);
  }
}

takeSignals(Pools.prototype);
