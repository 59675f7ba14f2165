// Host names that mean this machine alone.

/** Whether a host is a loopback one; IPv6 with or without brackets. */
export const isLoopback = (host: string): boolean =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/.test(host);

/** The same for `host:port`, in which the port may be absent. */
export const isLoopbackAddress = (address: string): boolean => isLoopback(address.replace(/:\d+$/, ''));
