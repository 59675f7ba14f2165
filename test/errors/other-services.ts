// Run services that answer otherwise than one should.

import { text as textIn } from 'node:stream/consumers';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { listen } from '../stage/free-port.ts';

const DEPLOYMENT = { id: '0d2ab3c4-5e6f-4a7b-8c9d-0e1f2a3b4c5d', name: 'portraits', workflow_id: 'w' };
const NOT_A_RUN = { detail: [{ loc: ['path', 'run_id'], msg: 'not a uuid', type: 'uuid_parsing' }] };

/** Each answers under a path of its own, so that one server is all of them. */
const SERVICES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  listless: {},
  garbage: { '/deployments': '<h1>Welcome</h1>' },
  'no-limit': { '/deployments': [{ ...DEPLOYMENT, concurrency_limit: -5 }] },
  'no-time': { '/deployments': [{ ...DEPLOYMENT, run_timeout: 0 }] },
  unbounded: { '/deployments': [DEPLOYMENT] },
  twofold: { '/deployments': [DEPLOYMENT, { ...DEPLOYMENT, id: DEPLOYMENT.id.replace('0', '1') }] },
  empty: { '/deployments': [] },
};

export type OtherServices = { readonly at: (name: string) => string; readonly close: () => void };

export async function openOtherServices(): Promise<OtherServices> {
  const server: Server = createServer((request, response) => {
    const [, name = '', path = ''] = /^\/([\w-]+)\/api(\/[^?]*)/.exec(request.url ?? '') ?? [];
    const answers = SERVICES[name];
    const body = path.startsWith('/run/') ? NOT_A_RUN : answers?.[path];
    response.statusCode =
      answers === undefined ? 200 : path.startsWith('/run/') ? 422 : body === undefined ? 404 : 200;
    const text = answers === undefined ? '<h1>Another program</h1>' : (body ?? { detail: 'Not Found' });
    response.end(typeof text === 'string' ? text : JSON.stringify(text));
  });
  const port = await listen(server);
  return {
    at: (name) => `http://127.0.0.1:${port}/${name}/api`,
    close: () => void server.close(),
  };
}

/** The local service without its profile, which says that it is a rehearsal. */
export async function openRealService(
  base: string,
): Promise<{ readonly base: string; readonly close: () => void }> {
  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const isProfile = request.url?.includes('/platform/profile') ?? false;
    const { authorization = '' } = request.headers;
    const path = isProfile ? '/none' : request.url;
    const body = request.method === 'POST' ? { body: await textIn(request) } : {};
    const headers = { authorization, 'content-type': 'application/json' };
    const answer = await fetch(`${new URL(base).origin}${path}`, {
      method: request.method ?? 'GET',
      headers,
      ...body,
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  };
  const server = createServer((request, response) => void forward(request, response));
  const port = await listen(server);
  return { base: `http://127.0.0.1:${port}${new URL(base).pathname}`, close: () => void server.close() };
}
