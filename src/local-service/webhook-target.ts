// Which addresses the service calls. It calls what strangers wrote into a request, so that it keeps to this machine:
// anything else is not called at all, unless whoever started it allows all hosts.

export type Target =
  | { readonly kind: 'allowed'; readonly url: URL }
  | { readonly kind: 'refused'; readonly reason: string };

const refused = (reason: string): Target => ({ kind: 'refused', reason });

/** Judges a webhook address. The URL class has spelled every form of an IPv4 address out before it is compared. */
export function targetOf(webhook: string, anywhere = false): Target {
  const url = URL.parse(webhook);
  if (url === null) return refused('it is no URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return refused(`${url.protocol} is not called`);
  if (!anywhere && !isLoopback(url.hostname)) return refused(`${url.hostname} is not this machine`);
  return { kind: 'allowed', url };
}

/** Whether a host of a URL is this machine. */
export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
