// Recognises requests that a page of another site causes in the user's browser: such a page may give its own name the address
// 127.0.0.1, or send a form to it, but it cannot change the Host and the Origin that the browser states.

import type { IncomingHttpHeaders } from 'node:http';

/** Whether a request to a server on loopback was addressed to it, and does not come from a page of another server. */
export function isAddressedHere({ headers }: { readonly headers: IncomingHttpHeaders }): boolean {
  const { host = '', origin } = headers;
  return (
    /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/.test(host) &&
    (origin ?? `http://${host}`) === `http://${host}`
  );
}
