// A raw TCP service whose answers the test defines; it records all requests.

import { createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { RunService } from '../../src/service-client/client.ts';
import { type ServiceConnection, ServiceClock } from '../../src/service-client/connection.ts';
import { keyFromEnvironment, type ApiKey } from '../../src/host/settings/api-key.ts';
import { openTransport } from '../../src/host/http/transport.ts';

export type Act = (socket: Socket, asked: string, nth: number) => void;

export type Scripted = { readonly requests: readonly string[]; readonly at: ServiceConnection };

/** The address of the service, and its recorded requests. */
export async function scriptedAt(
  act: Act,
  key: ApiKey = keyFromEnvironment('key-000000001', 'TEST'),
): Promise<Scripted> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      requests.push(chunk.toString());
      act(socket, chunk.toString(), requests.length);
    });
  }).listen(0, '127.0.0.1');
  await new Promise<void>((done) => server.once('listening', done));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const clock = new ServiceClock();
  return {
    requests,
    at: { base: `http://127.0.0.1:${port}/api`, key, transport: openTransport(2), clock },
  };
}

/** The same, with a client. */
export async function scripted(
  connect: (at: ServiceConnection) => RunService,
  act: Act,
  key?: ApiKey,
): Promise<RunService & Scripted> {
  const service = await scriptedAt(act, key);
  return { ...connect(service.at), ...service };
}

export function answer(status: number, body: string, headers = ''): string {
  const type = /content-type/.test(headers) ? '' : 'content-type: application/json\r\n';
  return `HTTP/1.1 ${status} X\r\n${type}${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
