// Serves the page of one batch to the owner's browser, while the batch runs or because its folder is not on the viewer's machine.
// It listens on loopback; only the address with the secret opens it, and only under the names of this machine, so that a page
// elsewhere whose name was pointed here (DNS rebinding) gets nothing.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { errorMessage, isRunsheetError } from '../../errors/error.ts';
import { openPageLogin, type PageLogin } from '../../host/page-login.ts';
import type { FoundBatch } from '../handle/found-batch.ts';
import { fileAt, sendFile } from './report-files.ts';
import { ReportFeed } from './report-feed.ts';
import type { Servers } from '../servers.ts';

/** After the end of the batch and without a request for so long, the page is not in use any more. */
const IDLE_MS = 600_000;
const LIMITS = { headersTimeout: 5_000, requestTimeout: 10_000 };

export type ReportServer = {
  /** Its owner's address. Everyone who knows it can see the batch. */
  readonly address: string;
  /** Resolves when the batch has ended and the page was not used for ten minutes. */
  readonly idle: Promise<void>;
  close(): Promise<void>;
};

type Served = {
  readonly feed: ReportFeed;
  readonly found: FoundBatch;
  readonly login: PageLogin;
  readonly port: () => number;
};

export async function serveReport(servers: Servers, found: FoundBatch): Promise<ReportServer> {
  const done = new AbortController();
  const feed = await ReportFeed.open(servers, found);
  const login = openPageLogin('/');
  const idle = Promise.withResolvers<void>();
  let lastAt = Date.now();
  const server = createServer(LIMITS, (request, response) => {
    lastAt = Date.now();
    void respond({ feed, found, login, port }, request, response);
  });
  const port = (): number => (server.address() as AddressInfo | null)?.port ?? 0;
  await new Promise<void>((listening, failed) => {
    server.once('error', failed);
    server.listen(0, '127.0.0.1', listening);
  });
  const following = feed.follow(done.signal);
  const check = setInterval(() => {
    if (feed.summary !== undefined && Date.now() - lastAt > IDLE_MS) idle.resolve();
  }, 5_000);
  return {
    address: login.address(`http://127.0.0.1:${port()}`),
    idle: idle.promise,
    close: async () => {
      clearInterval(check);
      done.abort();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      await following;
    },
  };
}

const HEADERS = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
};

async function respond(served: Served, request: IncomingMessage, response: ServerResponse): Promise<void> {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
  const { login, port } = served;
  const isOurs = [`127.0.0.1:${port()}`, `localhost:${port()}`].includes(request.headers.host ?? '');
  if (!isOurs || request.method !== 'GET') return void response.writeHead(isOurs ? 405 : 403).end();
  const opened = login.opens(request);
  if (opened !== undefined) return void response.writeHead(303, opened).end();
  if (!login.isOpen(request)) {
    response.writeHead(403, { 'content-type': 'text/plain' });
    return void response.end('This page opens with the address that runsheet open prints.\n');
  }
  try {
    await answer(served, request, response);
  } catch (error) {
    // A viewer who leaves closes the connection.
    if (response.headersSent) return void response.destroy();
    response.writeHead(isRunsheetError(error, 'E602') ? 400 : 500, { 'content-type': 'text/plain' });
    response.end(`${errorMessage(error)}\n`);
  }
}

async function answer(
  { feed, found }: Served,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const json = (value: unknown): void => {
    response.writeHead(value === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  };
  switch (url.pathname) {
    case '/':
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
      response.end((feed.summary && (await found.store.read('report.html'))) ?? feed.html);
      return;
    case '/rows':
      return json(await feed.news(url.searchParams.get('after') ?? ''));
    case '/detail':
      return json(await feed.detail(Number(url.searchParams.get('row'))));
    default: {
      const file = fileAt(url.pathname);
      if (file === undefined) response.writeHead(404).end();
      else await sendFile(found.store, file, request, response);
    }
  }
}
