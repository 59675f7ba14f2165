// The HTTP server for operators: metrics, and whether the process lives and can work. It has no authentication, so it listens on
// loopback unless the settings name another host.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { boundConnections } from '../host/bounded-connections.ts';
import { errorMessage, problem } from '../errors/error.ts';
import type { Readiness } from './readiness.ts';

export type ServerDeps = {
  metrics(): Promise<{ readonly type: string; readonly text: string }>;
  readiness(): Promise<Readiness>;
};

export type Listen = { readonly host: string; readonly port: number };

const LIMITS = { headersTimeout: 5_000, requestTimeout: 10_000, connectionsCheckingInterval: 1_000 };
const CONNECTIONS = { most: 100, perAddress: 100 };

/** Throws E602 if the address is in use. */
export async function openMonitorServer(
  deps: ServerDeps,
  { host, port }: Listen,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer(LIMITS);
  const connections = boundConnections(server, CONNECTIONS);
  server.on('request', (request, response) => {
    connections.busy(request.socket);
    response.once('close', () => connections.idle(request.socket));
    void respond(deps, request, response);
  });
  await new Promise<void>((done, failed) => {
    server.once('error', (error) => failed(unusable(host, port, error)));
    server.listen(port, host, done);
  });
  const { port: own } = server.address() as AddressInfo;
  return { url: `http://${host || 'localhost'}:${own}`, close: () => closing(server) };
}

const unusable = (host: string, port: number, error: Error) =>
  problem('E602', {
    what: `the metrics cannot be shown at ${host}:${port}: ${errorMessage(error)}`,
    hint: 'choose another address with --metrics or RUNSHEET_METRICS; port 0 takes any free port',
  });

function closing(server: Server): Promise<void> {
  return new Promise((done) => {
    server.close(() => done());
    server.closeAllConnections();
  });
}

async function respond(
  deps: ServerDeps,
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path = ''] = url.split('?');
  const answer = method === 'GET' || method === 'HEAD' ? await answerTo(deps, path).catch(failed) : REFUSED;
  response.writeHead(answer.status, { 'content-type': answer.type, 'cache-control': 'no-store' });
  response.end(answer.text);
}

type Answer = { readonly status: number; readonly type: string; readonly text: string };

const TEXT = 'text/plain; charset=utf-8';
const REFUSED: Answer = { status: 405, type: TEXT, text: 'only GET\n' };
const failed = (error: unknown): Answer => ({ status: 500, type: TEXT, text: `${errorMessage(error)}\n` });

async function answerTo(deps: ServerDeps, path: string): Promise<Answer> {
  switch (path) {
    case '/metrics':
      return { status: 200, ...(await deps.metrics()) };
    // A process whose event loop stands still does not answer.
    case '/healthz':
      return { status: 200, type: TEXT, text: 'ok\n' };
    case '/readyz': {
      const { isReady, checks } = await deps.readiness();
      const text = `${JSON.stringify({ ready: isReady, checks })}\n`;
      return { status: isReady ? 200 : 503, type: 'application/json', text };
    }
    default:
      return { status: 404, type: TEXT, text: '/metrics, /healthz or /readyz\n' };
  }
}
