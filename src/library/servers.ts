// Temporal as one program reaches it. Servers are started when something has to run, not when something is read, and they are
// left when the program closes its connection.

import { problem } from '../errors/error.ts';
import type { Config } from '../host/config.ts';
import { LOCAL } from '../run-service/local-address.ts';
import { configFrom, type ConnectOptions } from './connect-options.ts';
import { isUnderWay, notRunning } from './start/start-or-attach.ts';
import type { FoundBatch } from './handle/found-batch.ts';
import { clusterOf, openLivingSession, openSession, type Session, type SessionParams } from './session.ts';

export type Joined = { readonly session: Session | undefined; leave(): Promise<void> };

export class Servers {
  readonly config: Config;
  readonly options: ConnectOptions;
  /** With and without the local run service. */
  readonly #sessions = new Map<boolean, Promise<Session>>();
  readonly #closed = new AbortController();

  constructor(options: ConnectOptions) {
    this.options = options;
    this.config = configFrom(options);
    if (options.embedded === false && !this.isCluster)
      throw problem('E602', {
        what: 'connect(): embedded is false, and neither client nor settings name a Temporal cluster',
        hint: 'give client, or set TEMPORAL_ADDRESS',
      });
  }

  get isCluster(): boolean {
    return clusterOf(this.#params(false)) !== undefined;
  }

  /** Aborted when the connection is closed. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  #params(local: boolean): SessionParams {
    const { client, embedded = false, onNotice } = this.options;
    return { config: this.config, local, client, embedded, notice: onNotice ?? (() => undefined) };
  }

  /** Starts embedded servers if none are running, and keeps them running until {@link close}. */
  open(local: boolean): Promise<Session> {
    if (this.closed.aborted)
      throw problem('E602', { what: 'the connection is closed', hint: 'connect() again' });
    const known = this.#sessions.get(local);
    if (known !== undefined) return known;
    const opening = openSession(this.#params(local));
    this.#sessions.set(local, opening);
    opening.catch(() => this.#sessions.delete(local));
    return opening;
  }

  /** Those that a batch needs. */
  for({ file }: Pick<FoundBatch, 'file'>): Promise<Session> {
    return this.open(file.service.base === LOCAL);
  }

  /** The local run service, which alone has the runs of a rehearsal. */
  async forRehearsal(found: Pick<FoundBatch, 'file'>): Promise<void> {
    if (found.file.service.base === LOCAL) await this.for(found);
  }

  /** Servers that run; starts none. The caller leaves them. */
  async join(): Promise<Joined> {
    const [kept] = this.#sessions.values();
    const session = await (kept ?? openLivingSession(this.#params(false)));
    return { session, leave: async () => (kept === undefined ? session?.close() : undefined) };
  }

  /** Uses servers that run. Throws E516 if there are none, or if they do not run the batch. */
  async commanding<T>(found: FoundBatch, command: (session: Session) => Promise<T>): Promise<T> {
    const { session, leave } = await this.join();
    try {
      if (session === undefined || !(await isUnderWay(session, found))) throw notRunning(found);
      return await command(session);
    } finally {
      await leave();
    }
  }

  async close(): Promise<void> {
    this.#closed.abort();
    const closing = [...this.#sessions.values()].map(async (opening) => {
      // One that could not be opened has nothing to close.
      const session = await opening.catch(() => undefined);
      await session?.close();
    });
    await Promise.all(closing);
  }
}
