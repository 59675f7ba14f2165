// Serves a page to the owner's browser. It listens on loopback, requires the secret in the address, and
// accepts only host names of this machine, so that DNS rebinding gains nothing.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { errorMessage } from '../../errors/error.ts';
import { isAddressedHere, openServer } from '../../host/bounded-server.ts';
import { openPageLogin, type PageLogin } from '../../host/page-login.ts';

const LIMITS = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connections: { most: 256, perAddress: 256 },
};

export type PageServer = {
  /** The owner's address. Everyone who knows it can see the page. */
  readonly address: string;
  close(): Promise<void>;
};

type PageAnswer = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export async function servePage(answer: PageAnswer): Promise<PageServer> {
  const login = openPageLogin();
  const { port, close } = await openServer(LIMITS, { host: '127.0.0.1', port: 0 }, (request, response) => {
    void respond({ answer, login, port }, request, response);
  });
  return { address: login.address(`http://127.0.0.1:${port}`), close };
}

export const addressIn = ({ url }: IncomingMessage): URL => new URL(url ?? '/', 'http://localhost');

type ServedPage = { readonly answer: PageAnswer; readonly login: PageLogin; readonly port: number };

const HEADERS = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
};

async function respond(
  served: ServedPage,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
  const { answer, login, port } = served;
  const isOurs = isAddressedHere(request) && request.headers.host?.endsWith(`:${port}`);
  if (!isOurs || request.method !== 'GET') return void response.writeHead(isOurs ? 405 : 403).end();
  const opened = login.opens(request);
  if (opened !== undefined) return void response.writeHead(303, opened).end();
  if (!login.isOpen(request)) {
    response.writeHead(403, { 'content-type': 'text/plain' });
    return void response.end('This page opens with the address that the command prints.\n');
  }
  try {
    await answer(request, response);
  } catch (error) {
    // The browser may have closed the connection.
    if (response.headersSent) return void response.destroy();
    response.writeHead(500, { 'content-type': 'text/plain' });
    response.end(`${errorMessage(error)}\n`);
  }
}
