// A server that takes a generation and loses the answer: it reads the whole POST, and counts it, before it closes the connection or
// answers with an error of a gateway.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The ways to lose an answer; `closed once` loses only the first. */
export const LOSSES = ['closed once', 'closed', '500', '502'] as const;
export type Loss = (typeof LOSSES)[number];

export type LosingServer = AsyncDisposable & {
  readonly url: string;
  /** Number of POSTs whose whole body has arrived. */
  posts(): number;
  /** Number of different idempotency keys among them; undefined if a POST came without one. */
  keys(): number | undefined;
};

// The page of nginx, because clients read it: fal_client repeats a 502 only if the page names nginx.
const GATEWAY_PAGE =
  '<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center><hr><center>nginx</center></body></html>';

/** An accepted generation, in the words of every vendor at once. */
const ACCEPTED = {
  id: 'generation-1',
  request_id: 'generation-1',
  status: 'IN_QUEUE',
  model: 'model',
  version: 'version',
  input: {},
  created: 0,
  created_at: '2026-01-01T00:00:00Z',
  data: [{ b64_json: '' }],
  urls: {},
  status_url: '',
  response_url: '',
  cancel_url: '',
};

export async function startLosingServer(loss: Loss): Promise<LosingServer> {
  const keys: (string | undefined)[] = [];
  const lose = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.method !== 'POST') return answer(response, 404, '{}');
    const key = request.headers['idempotency-key'];
    keys.push(typeof key === 'string' ? key : undefined);
    if (loss === '500') return answer(response, 500, '{"detail":"internal error"}');
    if (loss === '502') return answer(response, 502, GATEWAY_PAGE, 'text/html');
    if (loss === 'closed once' && keys.length > 1) return answer(response, 200, JSON.stringify(ACCEPTED));
    request.socket.destroy();
  };
  const server = createServer((request, response) => {
    request.resume().once('end', () => lose(request, response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posts: () => keys.length,
    keys: () => (keys.includes(undefined) ? undefined : new Set(keys).size),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answer(response: ServerResponse, status: number, body: string, type = 'application/json'): void {
  response.writeHead(status, { 'content-type': type }).end(body);
}
