// Stands between the Store of a test and its S3 server and does to its requests what networks and busy servers do.

import { once } from 'node:events';
import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { serveForTest } from '../../stage/serve.ts';

export type Passing = {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** How many requests came before. */
  readonly nth: number;
};

export type ProxyFault =
  /** S3 never sees it. */
  | { readonly kind: 'refused'; readonly status: number; readonly code: string }
  | { readonly kind: 'late'; readonly ms: number }
  /** S3 does it, and the connection breaks before the answer. */
  | { readonly kind: 'answer lost' }
  /** The connection breaks after some bytes of the answer. */
  | { readonly kind: 'cut'; readonly bytes: number }
  /** The connection breaks immediately; S3 gets the request when `until` is over, and `arrived` gets its status. */
  | {
      readonly kind: 'held';
      readonly until: Promise<unknown>;
      readonly arrived: (status: number) => void;
    };

export type FaultyProxy = {
  readonly endpoint: string;
  readonly seen: Passing[];
  /** Decides about each request; undefined: it passes. */
  fault: (passing: Passing) => ProxyFault | undefined | Promise<undefined>;
};

export async function openFaultyProxy(upstream: string): Promise<FaultyProxy> {
  const { hostname, port } = new URL(upstream);
  const seen: Passing[] = [];
  const { url } = await serveForTest((incoming, answer) => {
    const { method = '', url: path = '', headers } = incoming;
    const passing = { method, path, headers, nth: seen.length };
    seen.push(passing);
    void pass(incoming, answer, () => proxy.fault(passing), { hostname, port });
  });
  const proxy: FaultyProxy = { endpoint: url, seen, fault: () => undefined };
  return proxy;
}

async function pass(
  incoming: IncomingMessage,
  answer: ServerResponse,
  decide: () => ReturnType<FaultyProxy['fault']>,
  upstream: { readonly hostname: string; readonly port: string },
): Promise<void> {
  const body = Buffer.concat(await incoming.toArray());
  const fault = await decide();
  if (fault?.kind === 'refused') {
    answer.writeHead(fault.status, { 'content-type': 'application/xml' });
    answer.end(`<Error><Code>${fault.code}</Code><Message>as the test wants it</Message></Error>`);
    return;
  }
  if (fault?.kind === 'held') {
    incoming.socket.destroy();
    await fault.until;
  }
  if (fault?.kind === 'late') await wait(fault.ms);
  const { method, url: path, headers } = incoming;
  // The signature covers the host as the client has written it.
  const sent = request({ ...upstream, method, path, headers });
  sent.end(body);
  const [got] = (await once(sent, 'response')) as [IncomingMessage];
  const content = Buffer.concat(await got.toArray());
  if (fault?.kind === 'held') return fault.arrived(got.statusCode ?? 0);
  if (fault?.kind === 'answer lost') return void incoming.socket.destroy();
  answer.writeHead(got.statusCode ?? 500, got.headers);
  if (fault?.kind !== 'cut') return void answer.end(content);
  answer.write(content.subarray(0, fault.bytes));
  // When the bytes are sent.
  incoming.socket.destroySoon();
}
