// Servers that untrusted clients can reach. Connections are limited: at the limit, a new connection replaces the oldest idle one,
// so that half-open connections cannot block real clients.

import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerOptions,
  type ServerResponse,
  type IncomingHttpHeaders,
} from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';

type Most = {
  readonly most: number;
  /** Maximum connections from one address; equal to `most` if all clients may share an address. */
  readonly perAddress: number;
};

export type Connections = ReturnType<typeof boundConnections>;

export function boundConnections(server: Server, { most, perAddress }: Most) {
  const open = new Set<Socket>();
  /** Idle connections by address, oldest first. */
  const waiting = new Map<string, Set<Socket>>();
  const counts = new Map<string, number>();

  const idle = (socket: Socket): void => {
    if (!open.has(socket)) return;
    const address = addressOf(socket);
    waiting.set(address, (waiting.get(address) ?? new Set()).add(socket));
  };
  const busy = (socket: Socket): void => {
    const address = addressOf(socket);
    waiting.get(address)?.delete(socket);
    if (waiting.get(address)?.size === 0) waiting.delete(address);
  };
  const forget = (socket: Socket, address: string): void => {
    if (!open.delete(socket)) return;
    busy(socket);
    const count = (counts.get(address) ?? 1) - 1;
    if (count === 0) counts.delete(address);
    else counts.set(address, count);
  };
  /** Closes the oldest idle connection, or the new one if all are busy. */
  const makeRoom = (among: ReadonlySet<Socket> | undefined, newest: Socket): void => {
    const [oldest = newest] = among ?? [];
    forget(oldest, addressOf(oldest));
    oldest.destroy();
  };

  server.on('connection', (socket) => {
    const address = addressOf(socket);
    open.add(socket);
    counts.set(address, (counts.get(address) ?? 0) + 1);
    socket.once('close', () => forget(socket, address));
    if ((counts.get(address) ?? 0) > perAddress) makeRoom(waiting.get(address), socket);
    else if (open.size > most) makeRoom(waiting.get(greediest(counts, waiting)), socket);
    idle(socket);
  });
  // A connection of an HTTP server is busy while the server answers.
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    busy(socket);
    response.once('close', () => idle(socket));
  });

  return {
    busy,
    /** Also closes connections without any request yet, which Node's own function leaves open. */
    closeIdle: () => waiting.forEach((sockets) => sockets.forEach((socket) => socket.destroy())),
    closeAll: () => open.forEach((socket) => socket.destroy()),
  };
}

export type Listen = { readonly host: string; readonly port: number };

/** Opens an HTTP server. Port 0 takes any free port; so does `orAny` if the port is in use. */
export async function openServer(
  { connections: most, orAny = false, ...limits }: ServerOptions & { connections: Most; orAny?: boolean },
  { host, port }: Listen,
  answer: RequestListener,
) {
  const server = createServer(limits);
  const connections = boundConnections(server, most);
  server.on('request', answer);
  await once(server.listen(port, host), 'listening').catch((error: NodeJS.ErrnoException) => {
    if (!orAny || error.code !== 'EADDRINUSE') throw error;
    return once(server.listen(0, host), 'listening');
  });
  const close = async (): Promise<void> => {
    const closed = new Promise((done) => server.close(done));
    connections.closeAll();
    await closed;
  };
  return { server, connections, port: (server.address() as AddressInfo).port, close };
}

/** undefined if the body is too long, without waiting for its end. */
export function readBody(request: IncomingMessage, mostBytes: number): Promise<string | undefined> {
  return new Promise((done, failed) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.byteLength;
      if (bytes <= mostBytes) chunks.push(chunk);
      else done(undefined);
    });
    request.on('end', () => done(Buffer.concat(chunks).toString('utf8')));
    request.on('error', failed);
  });
}

/** The address with the most connections, among those with an idle one. */
function greediest(counts: ReadonlyMap<string, number>, waiting: ReadonlyMap<string, ReadonlySet<Socket>>) {
  const addresses = [...waiting.keys()];
  return addresses.reduce(
    (most, address) => ((counts.get(address) ?? 0) > (counts.get(most) ?? 0) ? address : most),
    addresses[0] ?? '',
  );
}

const ADDRESSES = new WeakMap<Socket, string>();

/** Remembered, because a closed socket no longer has its address. */
function addressOf(socket: Socket): string {
  const address = ADDRESSES.get(socket) ?? socket.remoteAddress ?? '';
  ADDRESSES.set(socket, address);
  return address;
}

const BY_PROXY =
  /^(?:forwarded|via|x-forwarded(?:-.+)?|x-real-ip|x-client-ip|x-cluster-client-ip|x-original-.+|true-client-ip|cf-connecting-ip|fastly-client-ip)$/;

/**
 * Whether a proxy forwarded the request, which may then come from another machine although the proxy is on this one. By default,
 * nginx adds no header and names this machine as the host, but speaks HTTP 1.0.
 */
export const isForwarded = ({ headers, httpVersion }: IncomingMessage): boolean =>
  httpVersion === '1.0' || Object.keys(headers).some((name) => BY_PROXY.test(name));

/** Whether a request to a loopback server was addressed to it and does not come from a page of another server. */
export function isAddressedHere({ headers }: { readonly headers: IncomingHttpHeaders }): boolean {
  const { host = '', origin } = headers;
  return isNamedHere(host.replace(/:\d+$/, '')) && (origin ?? `http://${host}`) === `http://${host}`;
}

/** Whether requests to a server that listens on this host can be checked with {@link isAddressedHere}. */
export const isNamedHere = (host: string): boolean => /^(?:127\.0\.0\.1|localhost|::1|\[::1\])$/.test(host);
