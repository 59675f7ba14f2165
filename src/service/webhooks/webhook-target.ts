// Decides which webhook addresses the service calls. Requests contain arbitrary addresses, so only this machine is called,
// unless the service was started with all hosts allowed.

export type Target =
  | { readonly kind: 'allowed'; readonly url: URL }
  | { readonly kind: 'refused'; readonly reason: string };

const refused = (reason: string): Target => ({ kind: 'refused', reason });

/** Checks a webhook address. The URL class normalizes every form of an IPv4 address before the comparison. */
export function targetOf(webhook: string, anywhere = false): Target {
  const url = URL.parse(webhook);
  if (url === null) return refused('it is not a URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return refused(`${url.protocol} is not supported`);
  if (!anywhere && !isLoopback(url.hostname)) return refused(`${url.hostname} is not this machine`);
  return { kind: 'allowed', url };
}

/** Whether a host of a URL is this machine. */
export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
