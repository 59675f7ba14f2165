// A gateway in front of a run service that fails in the worst way: it responds to some calls with 502 and a page that
// quotes the whole request (key, webhook, inputs) in several encodings, and does not forward them.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type QuotingGateway = {
  /** Replaces the base URL of the service. */
  readonly base: string;
  /** Quotes every call, not only a share of the Queue Run and Get Run calls. */
  quotesAll: boolean;
  /** How many calls it has quoted. */
  quoted: number;
  close(): void;
};

/** Queue Run, and Get Run with a valid run id. */
const RUN_CALL = /\/(queue|run\/[0-9a-f-]{36})$/;

export async function openQuotingGateway(service: string, quoteEvery: number): Promise<QuotingGateway> {
  const { origin, pathname } = new URL(service);
  let calls = 0;

  const pass = async (asked: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of asked) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    calls += Number(RUN_CALL.test(asked.url ?? ''));
    const isTurn = RUN_CALL.test(asked.url ?? '') && calls % quoteEvery === 0;
    if (gateway.quotesAll || isTurn) {
      gateway.quoted += 1;
      const { authorization = '' } = asked.headers;
      const key = authorization.replace('Bearer ', '');
      const forms = [
        Buffer.from(key).toString('base64'),
        encodeURIComponent(key),
        Buffer.from(key).toString('hex'),
      ];
      response.writeHead(502, { 'content-type': 'text/plain' });
      response.end(
        `Bad gateway: ${key} ${forms.join(' ')} ${authorization} ${body.toString().slice(0, 4_000)}`,
      );
      return;
    }
    const { host: _, connection: __, 'content-length': ___, ...headers } = asked.headers;
    const answer = await fetch(`${origin}${asked.url}`, {
      method: asked.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...(body.length > 0 ? { body } : {}),
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    response
      .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' })
      .end(bytes);
  };

  const server = createServer((asked, response) => {
    // The service closed the connection, so the gateway closes the client's connection too.
    pass(asked, response).catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const gateway: QuotingGateway = {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    quotesAll: false,
    quoted: 0,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return gateway;
}
