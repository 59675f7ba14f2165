// Who may ask: everything under /api needs a token, but for the prices.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { PATHS } from '../run-service/contract/paths.ts';
import { refusalToWire } from '../run-service/contract/refusal.ts';

/** Where the API begins on this server. */
export const API = '/api';

const SCHEME = 'Bearer ';
const INVALID = refusalToWire('Invalid or missing token');

/** A hook that answers 401 before the body is read, and before it is known whether the address exists. */
export function authentication(tokens: readonly string[]) {
  const known = new Set(tokens);
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    if (isOpen(pathOf(request.url)) || known.has(tokenOf(request.headers.authorization))) done();
    else void reply.code(401).header('www-authenticate', 'Bearer').send(INVALID);
  };
}

const pathOf = (url: string): string => url.split('?', 1)[0] ?? url;

const isOpen = (path: string): boolean =>
  (path !== API && !path.startsWith(`${API}/`)) || path === `${API}${PATHS.pricing}`;

const tokenOf = (header: string | undefined): string =>
  header?.startsWith(SCHEME) === true ? header.slice(SCHEME.length) : '';
