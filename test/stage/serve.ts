// Servers on loopback.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { listen } from './free-port.ts';

export type Served = {
  readonly port: number;
  readonly url: string;
  /** Ends its connections too. */
  readonly close: () => void;
};

type Listener = (incoming: IncomingMessage, response: ServerResponse) => unknown;

/** Listens on a free port, unless one is given. */
export async function serve(what: Listener | Server, atPort = 0): Promise<Served> {
  const server = typeof what === 'function' ? createServer((...exchange) => void what(...exchange)) : what;
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  const port = await listen(server, atPort);
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** For the test that runs, with what it was asked. */
export async function serveForTest(
  listener: Listener,
): Promise<Served & { readonly asked: readonly IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const served = await serve((request, response) => {
    requests.push(request);
    response.on('error', () => undefined);
    return listener(request, response);
  });
  onTestFinished(served.close);
  return { ...served, asked: requests };
}
