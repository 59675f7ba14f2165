// Ports of loopback that nothing uses at this moment.

import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';

/** Lets a server listen on one, and returns it. */
export async function listen(server: Server, atPort = 0): Promise<number> {
  await once(server.listen(atPort, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  server.close();
  await once(server, 'close');
  return port;
}

/** An address of this machine on which no process listens. */
export const freeAddress = async (): Promise<string> => `127.0.0.1:${await freePort()}`;
