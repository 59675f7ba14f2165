// Protects pages for the owner's browser on a shared machine: an address with a secret sets a cookie, and only requests with the
// cookie are answered. Each start creates a new secret, so a cookie that the browser sends to another program on an old port is
// useless.

import { randomBytes } from 'node:crypto';
import { isSameSecret, keepSecret } from '../errors/redact.ts';

type PageRequest = {
  readonly url?: string | undefined;
  readonly socket: { readonly localPort?: number | undefined };
  readonly headers: { readonly cookie?: string | undefined };
};

export type PageLogin = ReturnType<typeof openPageLogin>;

/** Opens a login for all pages of a server. */
export function openPageLogin() {
  const secret = keepSecret(randomBytes(24).toString('base64url'));
  // Browsers send a cookie to all ports of a host, so the name contains the port.
  const nameFor = ({ socket }: PageRequest): string => `runsheet-${socket.localPort}`;
  return {
    /** The owner's address; `origin` has no trailing slash. */
    address: (origin: string): string => `${origin}/open/${secret}`,
    /** The redirect headers for a request to that address; undefined for any other request. */
    opens: (asking: PageRequest) =>
      isSameSecret(asking.url ?? '', `/open/${secret}`)
        ? { 'set-cookie': `${nameFor(asking)}=${secret}; Path=/; HttpOnly; SameSite=Lax`, location: '/' }
        : undefined,
    isOpen: (asking: PageRequest): boolean =>
      (asking.headers.cookie ?? '')
        .split(';')
        .some((pair) => isSameSecret(pair.trim(), `${nameFor(asking)}=${secret}`)),
  };
}
