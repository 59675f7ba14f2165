// A gateway in front of a run service that can change requests, answers and webhooks. To change webhooks, it gives the service
// its own webhook address and shows clients the original one.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, request } from 'undici';
import { isQueue, isV1, jsonOf } from './lies.ts';
import type { Answer, Asked, Hook, Lie } from './rule.ts';

export type Liar = {
  readonly url: string;
  /** Throws errors of a change: a failing gateway would break every rule and prove nothing. */
  close(): Promise<void>;
};

const HOOK = '/~hook/';
/** The headers of an answer that are passed on. */
const KEPT = ['content-type', 'www-authenticate', 'allow', 'retry-after'];

/** Opens a gateway for the service at `origin`, including its files. */
export async function openLiar(origin: string, lie: Lie = {}): Promise<Liar> {
  const dispatcher = new Agent();
  const memory = new Map<string, string>();
  const spelled = new Map<string, string>();
  const stumbles: unknown[] = [];
  let url = '';

  async function send(asked: Asked, to: string): Promise<Answer> {
    const answer = await request(to, {
      dispatcher,
      method: asked.method as 'GET',
      headers: asked.headers,
      body: asked.body === '' ? null : asked.body,
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

  const pass = async (asked: Asked): Promise<Answer> => {
    const answer = await send(lie.hook ? readdressed(asked, url, spelled) : asked, `${origin}${asked.path}`);
    return isText(answer) ? { ...answer, body: Buffer.from(named(answer.body.toString())) } : answer;
  };

  function named(text: string): string {
    let said = text.replaceAll(origin, url);
    for (const [ours, theirs] of spelled) said = said.replaceAll(ours, theirs);
    return said;
  }

  async function hooked(asked: Asked): Promise<Answer> {
    const hook = { ...asked, body: named(asked.body), url: receiverOf(asked.path) };
    const deliver = async (one: Hook): Promise<number> => (await send(one, one.url)).status;
    const status = lie.hook ? await lie.hook(hook, deliver, memory) : await deliver(hook);
    return { status, headers: {}, body: Buffer.alloc(0) };
  }

  const answer = (asked: Asked): Promise<Answer> => {
    if (asked.path.startsWith(HOOK)) return hooked(asked);
    return lie.exchange ? lie.exchange(asked, pass, memory) : pass(asked);
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
      if (stumbles.length > 0) throw new AggregateError(stumbles, `a lie stumbled: ${String(stumbles[0])}`);
    },
  };
}

async function serve(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  answer: (asked: Asked) => Promise<Answer>,
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

/** The request with a webhook through the gateway. */
function readdressed(asked: Asked, url: string, spelled: Map<string, string>): Asked {
  const order = isQueue(asked) || isV1(asked) ? jsonOf(asked.body) : undefined;
  const { webhook } = (order ?? {}) as { webhook?: unknown };
  if (typeof webhook !== 'string') return asked;
  const { search } = new URL(webhook);
  // The slash ends the hex, so that no address is a prefix of another.
  const through = `${url}${HOOK}${Buffer.from(webhook).toString('hex')}/${search}`;
  spelled.set(through, webhook);
  return { ...asked, body: JSON.stringify({ ...(order as object), webhook: through }) };
}

/** The original address of a webhook; its query is that of the service. */
function receiverOf(path: string): string {
  const [hex = '', query] = path.slice(HOOK.length).split('?');
  const given = Buffer.from(hex.replace('/', ''), 'hex').toString().split('?', 1)[0] ?? '';
  return query === undefined ? given : `${given}?${query}`;
}
