// Stands between our worker and a run service, passes everything on, and holds the answers to Queue Run back for a while:
// so a test knows that calls are on the wire, taken by the service and not yet answered, at the moment it acts. It may lose
// answers for good, too.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Agent, request } from 'undici';

/** The way of an order: it reached the gateway, the service has answered it, its answer has gone on. */
export type Moment = 'arrived' | 'taken' | 'answered';

export type Gateway = {
  readonly service: string;
  readonly port: number;
  /** What to use in place of the service's base address. */
  readonly base: string;
  /** Queue Run calls that have no answer yet. */
  readonly inFlight: () => number;
  /** Does something in the moment in which an order next comes so far, before anything else happens. */
  readonly atNext: (moment: Moment, act: () => void) => void;
  /** Every Queue Run call that began, in this order. */
  readonly orders: readonly Order[];
  readonly close: () => Promise<void>;
};

/** A Queue Run call: when it began, in ms since 1970, the webhook that it names, and how it was answered. */
export type Order = { readonly at: number; readonly webhook: string | undefined; status?: number };

/**
 * Holds answers for `holdMs`, or until that is settled. `loses` says of each order, counted from 1, whether its answer gets
 * lost. Lists are never longer than `mostListed`, however many runs are asked for.
 */
export async function openGateway(
  service: string,
  holdMs: number | Promise<unknown>,
  atPort = 0,
  loses: (nth: number) => boolean = () => false,
  mostListed = Number.POSITIVE_INFINITY,
): Promise<Gateway> {
  const { origin, pathname } = new URL(service);
  const dispatcher = new Agent();
  let inFlight = 0;
  const orders: Order[] = [];
  let asks = 0;
  const waiting: Record<Moment, (() => void)[]> = { arrived: [], taken: [], answered: [] };
  const tell = (moment: Moment): void => waiting[moment].splice(0).forEach((act) => act());

  const pass = async (asked: IncomingMessage, response: ServerResponse): Promise<void> => {
    const isQueue = asked.method === 'POST' && /\/(queue|run)$/.test(asked.url ?? '');
    asks += Number(isQueue);
    const isLost = isQueue && loses(asks);
    const at = Date.now();
    inFlight += Number(isQueue);
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of asked) chunks.push(chunk as Buffer);
      if (isQueue) tell('arrived');
      const { host: _, connection: __, ...headers } = asked.headers;
      const method = asked.method as 'GET' | 'POST';
      const body = chunks.length > 0 ? Buffer.concat(chunks) : null;
      const order: Order = { at, webhook: isQueue ? webhookOf(body) : undefined };
      if (isQueue) orders.push(order);
      const url = (asked.url ?? '').replace(
        /([?&]limit=)(\d+)/,
        (_limit, name: string, limit: string) => `${name}${Math.min(Number(limit), mostListed)}`,
      );
      const answer = await request(`${origin}${url}`, { method, headers, body, dispatcher });
      order.status = answer.statusCode;
      const bytes = Buffer.from(await answer.body.arrayBuffer());
      if (isLost) return void response.destroy();
      if (isQueue) {
        tell('taken');
        await (typeof holdMs === 'number' ? wait(holdMs) : holdMs);
      }
      const retryAfter = answer.headers['retry-after'];
      response
        .writeHead(answer.statusCode, {
          'content-type': String(answer.headers['content-type']),
          ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
        })
        .end(bytes, () => isQueue && tell('answered'));
    } catch {
      // The service cut the connection; whoever asked sees the same.
      response.destroy();
    } finally {
      inFlight -= Number(isQueue);
    }
  };

  const server = createServer((asked, response) => void pass(asked, response)).listen(atPort, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    service,
    port,
    base: `http://127.0.0.1:${port}${pathname}`,
    inFlight: () => inFlight,
    atNext: (moment, act) => void waiting[moment].push(act),
    orders,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await dispatcher.close();
    },
  };
}

function webhookOf(body: Buffer | null): string | undefined {
  return (JSON.parse(String(body)) as { webhook?: string } | null)?.webhook;
}
