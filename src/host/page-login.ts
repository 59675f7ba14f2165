// Pages for the owner's browser on a machine that others use too: an address with a secret in it sets a cookie, and only
// requests with the cookie are answered. The secret is drawn anew at each start, so that a cookie that was sent to another
// program on an old port opens nothing.

import { randomBytes } from 'node:crypto';
import { isSameSecret, keepSecret } from '../errors/redact.ts';

/** What a request looks like to the door. */
type Asking = {
  readonly url?: string | undefined;
  readonly socket: { readonly localPort?: number | undefined };
  readonly headers: { readonly cookie?: string | undefined };
};

export type PageLogin = {
  /** The address to give to the owner; `origin` has no slash at its end. */
  address(origin: string): string;
  /** The headers of the answer to that address, which lead on; undefined for any other request. */
  opens(asking: Asking): { readonly 'set-cookie': string; readonly location: string } | undefined;
  /** Whether the request carries the cookie. */
  isOpen(asking: Asking): boolean;
  /** The request's other cookies, for whoever the request is passed on to. */
  cookiesWithout(asking: Asking): string;
};

/** The pages of a server on a port of its own. `entrance` is the path of the first one. */
export function openPageLogin(entrance: string): PageLogin {
  const secret = keepSecret(randomBytes(24).toString('base64url'));
  // A browser sends the cookies of one port to all others as well.
  const nameFor = ({ socket }: Asking): string => `runsheet-${socket.localPort}`;
  const cookies = ({ headers }: Asking): readonly string[] =>
    (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return {
    address: (origin) => `${origin}/open/${secret}`,
    opens: (asking) =>
      isSameSecret(asking.url ?? '', `/open/${secret}`)
        ? { 'set-cookie': `${nameFor(asking)}=${secret}; Path=/; HttpOnly; SameSite=Lax`, location: entrance }
        : undefined,
    isOpen: (asking) => cookies(asking).some((pair) => isSameSecret(pair, `${nameFor(asking)}=${secret}`)),
    cookiesWithout: (asking) =>
      cookies(asking)
        .filter((pair) => !pair.startsWith(`${nameFor(asking)}=`))
        .join('; '),
  };
}
