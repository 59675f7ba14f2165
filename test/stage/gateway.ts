// A proxy between a worker and a run service that delays the responses to Queue Run, so that a test can act while the
// service has accepted calls but the worker has no response. It can also drop responses.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Agent, request } from 'undici';

/** The stages of a Queue Run call: it reached the gateway, the service has responded, the response was forwarded. */
export type Moment = 'arrived' | 'taken' | 'answered';

export type Gateway = {
  readonly service: string;
  readonly port: number;
  /** Replaces the base URL of the service. */
  readonly base: string;
  /** Queue Run calls without a response yet. */
  readonly inFlight: () => number;
  /** Calls `act` synchronously when the next Queue Run call reaches this stage. */
  readonly atNext: (moment: Moment, act: () => void) => void;
  /** All Queue Run calls in the order of their arrival. */
  readonly calls: readonly QueueRunCall[];
  readonly close: () => Promise<void>;
};

/** A Queue Run call: when it arrived, in ms since 1970, its webhook, and the status of its response. */
export type QueueRunCall = { readonly at: number; readonly webhook: string | undefined; status?: number };

/**
 * Delays responses by `holdMs`, or until the promise settles. `loses` decides for each Queue Run call, counted from 1,
 * whether its response is dropped. `mostListed` limits the page size of lists.
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
  const calls: QueueRunCall[] = [];
  let count = 0;
  const waiting: Record<Moment, (() => void)[]> = { arrived: [], taken: [], answered: [] };
  const notify = (moment: Moment): void => waiting[moment].splice(0).forEach((act) => act());

  const forward = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const isQueue = incoming.method === 'POST' && /\/(queue|run)$/.test(incoming.url ?? '');
    count += Number(isQueue);
    const isLost = isQueue && loses(count);
    const at = Date.now();
    inFlight += Number(isQueue);
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      if (isQueue) notify('arrived');
      const { host: _, connection: __, ...headers } = incoming.headers;
      const method = incoming.method as 'GET' | 'POST';
      const body = chunks.length > 0 ? Buffer.concat(chunks) : null;
      const call: QueueRunCall = { at, webhook: isQueue ? webhookOf(body) : undefined };
      if (isQueue) calls.push(call);
      const url = (incoming.url ?? '').replace(
        /([?&]limit=)(\d+)/,
        (_limit, name: string, limit: string) => `${name}${Math.min(Number(limit), mostListed)}`,
      );
      const answer = await request(`${origin}${url}`, { method, headers, body, dispatcher });
      call.status = answer.statusCode;
      const bytes = Buffer.from(await answer.body.arrayBuffer());
      if (isLost) return void response.destroy();
      if (isQueue) {
        notify('taken');
        await (typeof holdMs === 'number' ? wait(holdMs) : holdMs);
      }
      const retryAfter = answer.headers['retry-after'];
      response
        .writeHead(answer.statusCode, {
          'content-type': String(answer.headers['content-type']),
          ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
        })
        .end(bytes, () => isQueue && notify('answered'));
    } catch {
      // The service closed the connection, so the gateway closes the client's connection too.
      response.destroy();
    } finally {
      inFlight -= Number(isQueue);
    }
  };

  const server = createServer((incoming, response) => void forward(incoming, response)).listen(
    atPort,
    '127.0.0.1',
  );
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    service,
    port,
    base: `http://127.0.0.1:${port}${pathname}`,
    inFlight: () => inFlight,
    atNext: (moment, act) => void waiting[moment].push(act),
    calls,
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
