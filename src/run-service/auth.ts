// Authentication: everything under /api needs a token, except the prices. A token belongs to an owner, who sees
// only their own runs. The error texts are the real service's.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { problem } from '../errors/error.ts';
import { PATHS } from '../service-client/contract/paths.ts';

/** The base path of the API. */
export const API = '/api';
export const CONTROL = '/control';

/** The base path of V1, whose errors are plain text. */
export const V1 = '/v1/api';

declare module 'fastify' {
  interface FastifyRequest {
    owner: string;
  }
}

/** The owner of tokens without a name before a colon. */
const NOBODY_ELSE = 'user_local';

/** Splits an optional owner name from a token. */
function parsed(text: string): { readonly token: string; readonly name?: string } {
  const [, name, token] = /^([a-z][a-z0-9_-]{0,39}):(.+)$/i.exec(text) ?? [];
  return token === undefined || name === undefined ? { token: text } : { token, name };
}

export const OWN_KEYS = 'give each person a key of their own';

/** Names two owners that share a token, such as `ann and ben have the same key`; undefined if none do. */
export function sharedToken(keys: readonly string[]): string | undefined {
  const byToken = Map.groupBy(keys.map(parsed), ({ token }) => token);
  for (const same of byToken.values()) {
    const names = [...new Set(same.map(({ name = '' }) => name))].sort((a, b) => a.localeCompare(b));
    const [first = '', second = ''] = names;
    if (names.length < 2) continue;
    return first === ''
      ? `${second} has a key that is also given without an owner`
      : `${first} and ${second} have the same key`;
  }
  return undefined;
}

/** Parses tokens: `token`, or `owner:token`. Throws E602 if two owners have the same one. */
export function openTokens(keys: readonly string[]) {
  const shared = sharedToken(keys);
  if (shared !== undefined) throw problem('E602', { what: shared, hint: OWN_KEYS });
  const owners = new Map(
    keys.map(parsed).map(({ token, name }) => [token, name === undefined ? NOBODY_ELSE : `user_${name}`]),
  );
  const revoked = new Set<string>();
  return {
    hasOneOwner: new Set(owners.values()).size < 2,
    /** The owner of a token; undefined if the token is unknown. */
    ownerOf: (token: string) => owners.get(token),
    isRevoked: (token: string) => revoked.has(token),
    /** False if the token is unknown. */
    revoke: (token: string) => owners.has(token) && revoked.add(token).has(token),
  };
}
export type Tokens = ReturnType<typeof openTokens>;

const SCHEME = 'Bearer ';

/** A hook that answers 401 before the body is read and before the address is checked. */
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
      .send(isV1 ? words.replace(' or missing', ' or expired') : { detail: words });
  };
}

function wordsFor(tokens: Tokens, token: string): string {
  if (token === '') return 'Invalid or missing token';
  return tokens.isRevoked(token) ? 'Revoked token' : 'Invalid or expired token';
}

/** The path as the router decoded it, because an address may be percent-encoded. */
const pathOf = ({ routeOptions, url }: FastifyRequest) => routeOptions.url ?? url.split('?', 1)[0] ?? url;

const OPEN = `${API}${PATHS.pricing}`;

const isOpen = (path: string): boolean =>
  ![API, CONTROL, V1].some((root) => path === root || path.startsWith(`${root}/`)) || path === OPEN;

const tokenOf = (header: string | undefined): string =>
  header?.startsWith(SCHEME) === true ? header.slice(SCHEME.length) : '';
