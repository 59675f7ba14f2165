// A gateway in front of a run service that can change requests, answers and webhooks. To change webhooks, it gives the service
// its own webhook address and shows clients the original one.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, request } from 'undici';
import { isQueue, isV1, jsonOf } from './violations.ts';
import type { Answer, ReceivedRequest, Hook, Violation } from './rule.ts';

export type BreakingGateway = {
  readonly url: string;
  /** Throws errors of a change: a failing gateway would break every rule and prove nothing. */
  close(): Promise<void>;
};

const HOOK = '/~hook/';
/** The headers of an answer that are passed on. */
const KEPT = ['content-type', 'www-authenticate', 'allow', 'retry-after'];

/** Opens a gateway for the service at `origin`, including its files. */
export async function openBreakingGateway(
  origin: string,
  violation: Violation = {},
): Promise<BreakingGateway> {
  const dispatcher = new Agent();
  const memory = new Map<string, string>();
  const spelled = new Map<string, string>();
  const stumbles: unknown[] = [];
  let url = '';

  async function send(received: ReceivedRequest, to: string): Promise<Answer> {
    const answer = await request(to, {
      dispatcher,
      method: received.method as 'GET',
      headers: received.headers,
      body: received.body === '' ? null : received.body,
    });
    const headers = KEPT.flatMap((name) => {
      const value = answer.headers[name];
      return value === undefined ? [] : [[name, String(value)]];
    });
    const body = Buffer.from(await answer.body.arrayBuffer());
    return {
      status: answer.statusCode,
      headers: Object.fromEntries(headers) as Record<string, string>,
      body,
    };
  }

  const pass = async (received: ReceivedRequest): Promise<Answer> => {
    const answer = await send(
      violation.hook ? readdressed(received, url, spelled) : received,
      `${origin}${received.path}`,
    );
    return isText(answer) ? { ...answer, body: Buffer.from(named(answer.body.toString())) } : answer;
  };

  function named(text: string): string {
    let rewritten = text.replaceAll(origin, url);
    for (const [ours, theirs] of spelled) rewritten = rewritten.replaceAll(ours, theirs);
    return rewritten;
  }

  async function hooked(received: ReceivedRequest): Promise<Answer> {
    const hook = { ...received, body: named(received.body), url: receiverOf(received.path) };
    const deliver = async (one: Hook): Promise<number> => (await send(one, one.url)).status;
    const status = violation.hook ? await violation.hook(hook, deliver, memory) : await deliver(hook);
    return { status, headers: {}, body: Buffer.alloc(0) };
  }

  const answer = (received: ReceivedRequest): Promise<Answer> => {
    if (received.path.startsWith(HOOK)) return hooked(received);
    return violation.exchange ? violation.exchange(received, pass, memory) : pass(received);
  };

  const server = createServer((incoming, outgoing) => {
    void serve(incoming, outgoing, answer).catch((error: unknown) => {
      // The client gets the same broken connection as the gateway.
      outgoing.destroy();
      if (!isBrokenConnection(error)) stumbles.push(error);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await dispatcher.destroy();
      if (stumbles.length > 0)
        throw new AggregateError(stumbles, `a violation stumbled: ${String(stumbles[0])}`);
    },
  };
}

async function serve(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  answer: (received: ReceivedRequest) => Promise<Answer>,
): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  const {
    host: _,
    connection: __,
    'content-length': ___,
    'transfer-encoding': ____,
    ...rest
  } = incoming.headers;
  const headers = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, String(value)]));
  const { method = 'GET', url = '/' } = incoming;
  const given = await answer({ method, path: url, headers, body: Buffer.concat(parts).toString() });
  outgoing.writeHead(given.status, given.headers).end(given.body);
}

/** Errors of the system and of the HTTP client have a code; Node's own codes start with ERR. */
const isBrokenConnection = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && !String(error.code).startsWith('ERR_');

const isText = (answer: Answer): boolean => !String(answer.headers['content-type']).startsWith('image/');

/** The body with a webhook through the gateway. */
function readdressed(received: ReceivedRequest, url: string, spelled: Map<string, string>): ReceivedRequest {
  const body = isQueue(received) || isV1(received) ? jsonOf(received.body) : undefined;
  const { webhook } = (body ?? {}) as { webhook?: unknown };
  if (typeof webhook !== 'string') return received;
  const { search } = new URL(webhook);
  // The slash ends the hex, so that no address is a prefix of another.
  const through = `${url}${HOOK}${Buffer.from(webhook).toString('hex')}/${search}`;
  spelled.set(through, webhook);
  return { ...received, body: JSON.stringify({ ...(body as object), webhook: through }) };
}

/** The original address of a webhook; its query is that of the service. */
function receiverOf(path: string): string {
  const [hex = '', query] = path.slice(HOOK.length).split('?');
  const given = Buffer.from(hex.replace('/', ''), 'hex').toString().split('?', 1)[0] ?? '';
  return query === undefined ? given : `${given}?${query}`;
}
