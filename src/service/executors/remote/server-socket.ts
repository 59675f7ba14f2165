// The connection on which a server tells what it does. As long as one stays open, the process at its other end is the same.

import type { Backend, Listening, SocketEvent } from './backend.ts';

/** What it tells, without the connection itself. */
export type Told = Exclude<SocketEvent, { readonly kind: 'connected' | 'disconnected' }>;

export class ServerSocket {
  #connection = 0;
  #listening: Listening | undefined;
  isOpen = false;

  /** `lost`: the connection is over, and the server may be another one when it comes back. */
  listen(backend: Backend, on: { told(event: Told): void; opened(): void; lost(): void }): void {
    this.#listening = backend.listen((event) => {
      if (event.kind === 'connected') {
        [this.#connection, this.isOpen] = [this.#connection + 1, true];
        on.opened();
      } else if (event.kind === 'disconnected') {
        this.isOpen = false;
        on.lost();
      } else on.told(event);
    });
  }

  /** The number of the open connection; undefined if there is none. */
  connection = (): number | undefined => (this.isOpen ? this.#connection : undefined);

  /** Whether the server answers on it now. */
  isAlive = async (): Promise<boolean> => (await this.#listening?.isAlive()) === true;

  close(): void {
    this.#listening?.close();
  }
}
