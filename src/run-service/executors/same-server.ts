// Recognises two addresses of one server: `localhost`, `127.0.0.1` and the name of this machine, or a proxy
// or tunnel in front of a ComfyUI. A server that is known twice would get twice as many runs as it has
// places.

import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import { identityOf } from '../../host/service-address.ts';

/** Compares host, port and path. Hosts are equal if their names are, or if they share an IP address. */
export async function isSameAddress(first: string, second: string): Promise<boolean> {
  const [a, b] = [new URL(identityOf(first)), new URL(identityOf(second))];
  if (a.protocol !== b.protocol || a.port !== b.port || a.pathname !== b.pathname) return false;
  if (a.hostname === b.hostname) return true;
  const [ofOne, ofOther] = await Promise.all([addressesOf(a.hostname), addressesOf(b.hostname)]);
  return ofOne.some((address) => ofOther.includes(address));
}

const HERE = 'this machine';

/** The IP addresses of a host; all addresses of this machine count as one. Empty for a name that cannot be resolved. */
async function addressesOf(host: string): Promise<readonly string[]> {
  const records = await lookup(host.replace(/^\[(.*)\]$/, '$1'), { all: true }).catch(() => []);
  const own = new Set(
    Object.values(networkInterfaces()).flatMap(
      (interfaces) => interfaces?.map(({ address }) => address) ?? [],
    ),
  );
  return records.map(({ address }) => (own.has(address) || address.startsWith('127.') ? HERE : address));
}
