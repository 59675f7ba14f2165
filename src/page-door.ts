// Pages for the owner's browser on a machine that others use too: an address with a secret in it sets a cookie, and only
// requests with the cookie are answered. The secret is drawn anew at each start, so that a cookie that was sent to another
// program on an old port opens nothing.

import { randomBytes } from 'node:crypto';
import { isSameSecret, keepSecret } from './secrets.ts';

/** What a request looks like to the door. */
type Asking = {
  readonly url?: string | undefined;
  readonly headers: { readonly cookie?: string | undefined };
};

export type Door = {
  /** The address to give to the owner; `origin` has no slash at its end. */
  address(origin: string): string;
  /** The headers of the answer to that address, which lead on; undefined for any other request. */
  opens(asking: Asking): { readonly 'set-cookie': string; readonly location: string } | undefined;
  /** Whether the request carries the cookie. */
  isOpen(asking: Asking): boolean;
  /** The request's other cookies, for whoever the request is passed on to. */
  cookiesWithout(asking: Asking): string;
};

/** `name` tells the cookie from those of other doors: cookies do not care about ports. `entrance` is a path. */
export function openDoor(name: string, entrance: string): Door {
  const secret = keepSecret(randomBytes(24).toString('base64url'));
  const cookies = ({ headers }: Asking): readonly string[] =>
    (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return {
    address: (origin) => `${origin}/open/${secret}`,
    opens: ({ url = '' }) =>
      isSameSecret(url, `/open/${secret}`)
        ? { 'set-cookie': `${name}=${secret}; Path=/; HttpOnly; SameSite=Lax`, location: entrance }
        : undefined,
    isOpen: (asking) => cookies(asking).some((pair) => isSameSecret(pair, `${name}=${secret}`)),
    cookiesWithout: (asking) =>
      cookies(asking)
        .filter((pair) => !pair.startsWith(`${name}=`))
        .join('; '),
  };
}
