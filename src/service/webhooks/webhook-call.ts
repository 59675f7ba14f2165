// Calls a webhook receiver over real HTTP.

import type { LookupFunction } from 'node:net';
import { request, type Dispatcher } from 'undici';
import { openOutgoing } from '../../host/outgoing.ts';
import { errorMessage } from '../../errors/error.ts';

/** Calls a receiver once; returns why the call failed, undefined on success. */
type Call = (url: URL, method: 'GET' | 'POST', body: string) => Promise<string | undefined>;
export type Caller = { readonly call: Call; close(): Promise<void> };

/** Connections to one receiver. */
export const CONNECTIONS = 64;
const TIMEOUT_MS = 20_000;
const BODY_READ_BYTES = 64 * 1024;

/** `anywhere`: also on other machines. */
export function openCaller({ anywhere }: { readonly anywhere: boolean }): Caller {
  const agent = openOutgoing({
    connections: CONNECTIONS,
    headersMs: TIMEOUT_MS,
    bodyMs: TIMEOUT_MS,
    connectMs: TIMEOUT_MS,
    proxied: anywhere,
    ...(anywhere ? {} : { lookup: loopbackOnly }),
  });
  return { call: (url, method, body) => callOnce(agent, url, method, body), close: () => agent.destroy() };
}

async function callOnce(dispatcher: Dispatcher, url: URL, method: 'GET' | 'POST', body: string) {
  try {
    const answer = await request(url, {
      dispatcher,
      method,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'runsheet-local-service',
        ...authorizationOf(url),
      },
      body,
    });
    await answer.body.dump({ limit: BODY_READ_BYTES });
    return answer.statusCode < 400 ? undefined : `answered ${answer.statusCode}`;
  } catch (error) {
    return errorMessage(error);
  }
}

/** Credentials in the address become an authorization header. */
function authorizationOf({ username, password }: URL): { readonly authorization?: string } {
  if (username === '' && password === '') return {};
  const words = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(words).toString('base64')}` };
}

// `localhost` always means this machine, whatever the hosts file says; other names are never resolved.
const loopbackOnly: LookupFunction = (_hostname, _options, done) =>
  done(null, [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ]);
