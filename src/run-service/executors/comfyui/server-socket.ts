// The connection over which a server sends events. While a connection stays open, the process at its other
// end is the same.

import type { Backend, Listening, SocketEvent } from '../backend.ts';

/** Events about runs, without those about the connection itself. */
export type Reported = Exclude<SocketEvent, { readonly kind: 'connected' | 'disconnected' }>;

export class ServerSocket {
  #connection = 0;
  #listening: Listening | undefined;
  isOpen = false;

  /** `lost`: the connection closed, and the next one may reach another server process. */
  listen(backend: Backend, on: { reported(event: Reported): void; opened(): void; lost(): void }): void {
    this.#listening = backend.listen?.((event) => {
      if (event.kind === 'connected') {
        [this.#connection, this.isOpen] = [this.#connection + 1, true];
        on.opened();
      } else if (event.kind === 'disconnected') {
        this.isOpen = false;
        on.lost();
      } else on.reported(event);
    });
  }

  /** The number of the open connection; undefined if there is none. */
  connection = (): number | undefined => (this.isOpen ? this.#connection : undefined);

  /** Whether the server answers on the connection now. */
  isAlive = async (): Promise<boolean> => (await this.#listening?.isAlive()) === true;

  close(): void {
    this.#listening?.close();
  }
}
