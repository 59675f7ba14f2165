// Who may ask, and what is theirs: everything under /api needs a token, but for the prices and the document. A token belongs to an owner,
// and nobody sees the runs of another. The sentences are the real service's.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { PATHS } from '../run-service/contract/paths.ts';
import { refusalToWire } from '../run-service/contract/refusal.ts';

/** Where the API begins on this server, and where the service is told what to do wrong. */
export const API = '/api';
export const CONTROL = '/control';

/** Where V1 begins; it says what is wrong in plain text. */
export const V1 = '/v1/api';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose token was given. */
    owner: string;
  }
}

export type Tokens = {
  /** Who a token belongs to; undefined where nobody knows it. */
  ownerOf(token: string): string | undefined;
  isRevoked(token: string): boolean;
  /** False where nobody knows it. */
  revoke(token: string): boolean;
};

/** Whose tokens have no owner's name before a colon. */
const NOBODY_ELSE = 'user_local';

/** Tokens as they are given: `token`, or `owner:token`. */
export function openTokens(given: readonly string[]): Tokens {
  const owners = new Map(
    given.map((text) => {
      const [, owner, token] = /^([a-z][a-z0-9_-]{0,39}):(.+)$/i.exec(text) ?? [];
      return token === undefined ? [text, NOBODY_ELSE] : [token, `user_${owner}`];
    }),
  );
  const revoked = new Set<string>();
  return {
    ownerOf: (token) => owners.get(token),
    isRevoked: (token) => revoked.has(token),
    revoke: (token) => owners.has(token) && revoked.add(token).has(token),
  };
}

const SCHEME = 'Bearer ';

/** A hook that answers 401 before the body is read, and before it is known whether the address exists. */
export function authentication(tokens: Tokens) {
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const token = tokenOf(request.headers.authorization);
    request.owner = tokens.ownerOf(token) ?? '';
    if (isOpen(pathOf(request)) || (request.owner !== '' && !tokens.isRevoked(token))) return done();
    const words = wordsFor(tokens, token);
    const isV1 = pathOf(request).startsWith(`${V1}/`);
    void reply
      .code(401)
      .header('www-authenticate', 'Bearer')
      .type(isV1 ? 'text/plain' : 'application/json')
      .send(isV1 ? words.replace(' or missing', ' or expired') : refusalToWire(words));
  };
}

function wordsFor(tokens: Tokens, token: string): string {
  if (token === '') return 'Invalid or missing token';
  return tokens.isRevoked(token) ? 'Revoked token' : 'Invalid or expired token';
}

/** As the router read it: an address may spell its letters in another way. */
const pathOf = ({ routeOptions, url }: FastifyRequest): string =>
  routeOptions.url ?? url.split('?', 1)[0] ?? url;

const OPEN = new Set([PATHS.pricing, PATHS.openapi, PATHS.docs].map((path) => `${API}${path}`));

const isOpen = (path: string): boolean =>
  ![API, CONTROL, V1].some((root) => path === root || path.startsWith(`${root}/`)) || OPEN.has(path);

const tokenOf = (header: string | undefined): string =>
  header?.startsWith(SCHEME) === true ? header.slice(SCHEME.length) : '';
