// Decrypts payloads for people who look at a cluster: Temporal's codec protocol, limited to decoding. Temporal's UI
// and command line call it with a token that their users have.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PayloadCodec } from '@temporalio/common';
import { z } from 'zod';
import { jsonIn } from '../../errors/outside-text.ts';
import { isSameSecret } from '../../errors/redact.ts';
import { openServer, readBody, type Listen } from '../../host/bounded-server.ts';

const MAX_BODY_BYTES = 16 << 20;

const LIMITS = {
  connections: { most: 256, perAddress: 64 },
  connectionsCheckingInterval: 1_000,
  headersTimeout: 5_000,
};

export type CodecParams = {
  readonly codec: PayloadCodec;
  readonly listen: Listen;
  /** The token that a caller sends as `Authorization: Bearer …`. */
  readonly token: string;
  /** The origins of Temporal's web UI whose pages may call the server. */
  readonly origins: readonly string[];
};

/** Resolves with the address of the server and its end. */
export async function openCodecServer({ codec, listen, token, origins }: CodecParams) {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { origin, authorization = '' } = request.headers;
    const isOurs = origin === undefined || origins.includes(origin);
    if (origin !== undefined && isOurs) allow(response, origin);
    if (!isOurs) return say(response, 403, 'This page is no page of the Temporal that is decoded for.\n');
    if (request.method === 'OPTIONS') return void response.writeHead(204).end();
    if (request.method !== 'POST' || request.url?.replace(/\?.*/s, '') !== '/decode')
      return say(response, 404, 'Only POST /decode is supported.\n');
    if (!isSameSecret(authorization, `Bearer ${token}`)) return say(response, 401, 'The token is wrong.\n');
    return decode(codec, request, response);
  };
  const { port, close } = await openServer(LIMITS, listen, (request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  return { url: `http://${listen.host}:${port}`, close: (): void => void close() };
}

function allow(response: ServerResponse, origin: string): void {
  response
    .setHeader('access-control-allow-origin', origin)
    .setHeader('access-control-allow-headers', 'authorization, content-type, x-namespace')
    .setHeader('access-control-allow-methods', 'POST')
    .setHeader('vary', 'origin');
}

const say = (response: ServerResponse, status: number, text: string): void =>
  void response
    .writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' })
    .end(text);

const base64 = z.string().transform((text) => Buffer.from(text, 'base64'));
const decodeRequest = z.object({
  payloads: z.array(
    z.object({ metadata: z.record(z.string(), base64).exactOptional(), data: base64.exactOptional() }),
  ),
});

/** Answers a request of Temporal's codec protocol. */
async function decode(
  codec: PayloadCodec,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = decodeRequest.safeParse(jsonIn((await readBody(request, MAX_BODY_BYTES)) ?? ''));
  if (!body.success) return say(response, 400, 'The body is not a list of payloads.\n');
  const payloads = await Promise.all(body.data.payloads.map((payload) => readable(codec, payload)));
  response
    .writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    .end(JSON.stringify({ payloads: payloads.map(toJson) }));
}

type Payload = Parameters<PayloadCodec['decode']>[0][number];

/** Returns a payload unchanged if it is not encrypted or cannot be decrypted. */
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
