// The owner's way to Temporal's own pages. What Temporal holds is encrypted, and its pages can be read by every user of the
// machine. The gateway shows the same pages to the owner's browser alone, and decrypts for them: Temporal tells its pages to
// ask `/codec` for that, which is a path of this gateway, and nothing on Temporal's own port.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PayloadCodec } from '@temporalio/common';
import { createProxyServer } from 'httpxy';
import { z } from 'zod';
import { boundConnections } from '../../host/bounded-connections.ts';
import { openPageLogin } from '../../host/page-login.ts';

/** Where Temporal's pages send what they want decrypted. */
export const CODEC_PATH = '/codec';

export type GatewayOrder = {
  /** Where it listens; a taken port is replaced by a free one. */
  readonly port: number;
  /** Temporal's pages; undefined while the server does not live, when another program may be there. */
  readonly pages: () => string | undefined;
  /** The path of the first page. */
  readonly entrance: string;
  readonly codec: PayloadCodec;
};

export type Gateway = {
  /** The address for the owner's browser, with the secret in it. */
  readonly address: string;
  close(): void;
};

const CONNECTIONS = { most: 256, perAddress: 256 };
const BODY_BYTES_MAX = 16 << 20;
const CLOSED =
  'This page is for the owner of these servers. Open the address that `runsheet dev` prints; it changes at each start.\n';

export async function openGateway(order: GatewayOrder): Promise<Gateway> {
  const server = createServer({ connectionsCheckingInterval: 1_000, headersTimeout: 5_000 });
  const connections = boundConnections(server, CONNECTIONS);
  const port = await listening(server, order.port);
  const door = openPageLogin(order.entrance);
  const proxy = createProxyServer({});

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const opened = door.opens(request);
    const pages = order.pages();
    if (opened !== undefined) return refuse(response, 303, '', opened);
    if (!door.isOpen(request)) return refuse(response, 403, CLOSED);
    if (request.url?.startsWith(`${CODEC_PATH}/`)) return decode(order.codec, request, response);
    if (pages === undefined) return refuse(response, 503, 'Temporal is starting again.\n');
    request.headers.cookie = door.cookiesWithout(request);
    await proxy.web(request, response, { target: pages });
  };

  server.on('request', (request, response) => {
    connections.busy(request.socket);
    response.once('close', () => connections.idle(request.socket));
    answer(request, response).catch(() => refuse(response, 502, 'Temporal does not answer.\n'));
  });
  return {
    address: door.address(`http://127.0.0.1:${port}`),
    close: () => {
      server.close();
      connections.closeAll();
    },
  };
}

async function listening(server: ReturnType<typeof createServer>, port: number): Promise<number> {
  await new Promise<void>((done, failed) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' && port !== 0 ? void server.listen(0, '127.0.0.1') : failed(error),
    );
    server.listen(port, '127.0.0.1', done);
  });
  return (server.address() as AddressInfo).port;
}

function refuse(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent) return void response.destroy();
  response
    .writeHead(status, {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      ...headers,
    })
    .end(text);
}

const base64 = z.string().transform((text) => Buffer.from(text, 'base64'));
const asked = z.object({
  payloads: z.array(
    z.object({ metadata: z.record(z.string(), base64).exactOptional(), data: base64.exactOptional() }),
  ),
});

/** Temporal's protocol for codec servers; only for reading, and only for our own pages. */
async function decode(
  codec: PayloadCodec,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path] = request.url?.split('?') ?? [];
  const site = request.headers['sec-fetch-site'] ?? 'same-origin';
  if (path !== `${CODEC_PATH}/decode` || request.method !== 'POST' || site !== 'same-origin')
    return refuse(response, 404, 'There is only POST /codec/decode.\n');
  const body = asked.safeParse(jsonOf(await bodyOf(request)));
  if (!body.success) return refuse(response, 400, 'These are no payloads.\n');
  const payloads = await Promise.all(body.data.payloads.map((payload) => readable(codec, payload)));
  response
    .writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    .end(JSON.stringify({ payloads: payloads.map(toJson) }));
}

type Payload = Parameters<PayloadCodec['decode']>[0][number];

/** What cannot be decrypted, or was never encrypted, is shown as it is. */
async function readable(codec: PayloadCodec, payload: Payload): Promise<Payload> {
  const [decoded = payload] = await codec.decode([payload]).catch(() => [payload]);
  return decoded;
}

const toJson = ({ metadata, data }: Payload) => ({
  metadata: Object.fromEntries(
    Object.entries(metadata ?? {}).map(([name, value]) => [
      name,
      Buffer.from(value ?? []).toString('base64'),
    ]),
  ),
  data: Buffer.from(data ?? []).toString('base64'),
});

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).byteLength;
    if (bytes > BODY_BYTES_MAX) throw new Error('the payloads are too long');
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** undefined, which the schema refuses, where it is not JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
