// Serves Temporal's web UI with decrypted payloads to the owner only. Every user of the machine can open Temporal's own port,
// where payloads are encrypted. The gateway proxies the same pages for the owner's browser and decrypts for them: Temporal
// configures its UI to call `/codec`, a path that exists only on this gateway.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PayloadCodec } from '@temporalio/common';
import { createProxyServer } from 'httpxy';
import { openServer, isAddressedHere } from '../../host/bounded-server.ts';
import { openPageLogin } from '../../host/page-login.ts';
import { decode, say } from '../encryption/codec-server.ts';
import { CODEC_PATH } from './temporal-server.ts';

export type GatewayParams = {
  /** The port to listen on; if it is in use, a free one is taken. */
  readonly port: number;
  /** The address of Temporal's web UI; undefined while the server is down, because another program may use its port. */
  readonly pages: () => string | undefined;
  /** The path of the first page. */
  readonly entrance: string;
  readonly codec: PayloadCodec;
};

export type Gateway = Awaited<ReturnType<typeof openGateway>>;

const LIMITS = {
  connections: { most: 256, perAddress: 256 },
  connectionsCheckingInterval: 1_000,
  headersTimeout: 5_000,
  orAny: true,
};
const CLOSED =
  'Only the owner of these servers may open this page. Use the address that `runsheet dev` prints; it changes at each start.\n';

export async function openGateway(params: GatewayParams) {
  const login = openPageLogin(params.entrance);
  const proxy = createProxyServer({});

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!isAddressedHere(request)) return refuse(response, 403, CLOSED);
    const opened = login.opens(request);
    const pages = params.pages();
    if (opened !== undefined) return refuse(response, 303, '', opened);
    if (!login.isOpen(request)) return refuse(response, 403, CLOSED);
    if (request.url?.startsWith(`${CODEC_PATH}/`)) return decodeHere(params.codec, request, response);
    if (pages === undefined) return refuse(response, 503, 'Temporal is restarting.\n');
    request.headers.cookie = login.cookiesWithout(request);
    await proxy.web(request, response, { target: pages });
  };

  const listen = { host: '127.0.0.1', port: params.port };
  const { port, close } = await openServer(LIMITS, listen, (request, response) => {
    answer(request, response).catch(() => refuse(response, 502, 'Temporal does not answer.\n'));
  });
  return {
    /** The address for the owner's browser, with the secret in it. */
    address: login.address(`http://127.0.0.1:${port}`),
    close: (): void => void close(),
  };
}

function refuse(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent) return void response.destroy();
  say(response, status, text, { 'referrer-policy': 'no-referrer', ...headers });
}

/** Only for requests of the same origin. */
async function decodeHere(codec: PayloadCodec, request: IncomingMessage, response: ServerResponse) {
  const [path] = request.url?.split('?') ?? [];
  const site = request.headers['sec-fetch-site'] ?? 'same-origin';
  if (path !== `${CODEC_PATH}/decode` || request.method !== 'POST' || site !== 'same-origin')
    return refuse(response, 404, 'Only POST /codec/decode is supported.\n');
  return decode(codec, request, response);
}
