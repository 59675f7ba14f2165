// Decides which addresses from a service or a batch may be connected to, for files, notifications and workflow sheets. An address
// in our own machine or network is allowed only if the run service itself is in that network, with every address that its name
// ever had in this process. The IP address of the connection decides, not the host name.

import type { LookupAddress, LookupOptions } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { proxyFor } from '../settings/proxies.ts';
import { FileFault, ONE_TRY } from './download-faults.ts';

type Network =
  | 'public'
  | 'loopback'
  | 'private'
  | 'link-local'
  | 'carrier-grade NAT'
  | 'metadata'
  | 'reserved';

const NETWORKS: Readonly<Record<string, Network>> = {
  unicast: 'public',
  loopback: 'loopback',
  // A connection to the unspecified address reaches the machine itself.
  unspecified: 'loopback',
  private: 'private',
  uniqueLocal: 'private',
  linkLocal: 'link-local',
  carrierGradeNat: 'carrier-grade NAT',
};

/** The addresses from which clouds serve a machine's credentials and settings. */
const METADATA: ReadonlySet<string> = new Set([
  '169.254.169.254', // most clouds
  '169.254.169.253', // AWS: names
  '169.254.169.123', // AWS: time
  '169.254.170.2', // AWS: containers
  '169.254.170.23', // AWS: pods
  '169.254.0.23', // Tencent
  '169.254.42.42', // Scaleway
  '168.63.129.16', // Azure
  '100.100.100.200', // Alibaba
  '100.100.2.136', // Alibaba: names
  '100.100.2.138',
  '192.0.0.192', // Oracle
  'fd00:ec2::254', // AWS
  'fd00:ec2::253',
  'fd00:ec2::123',
  'fd00:ec2::23',
  'fd20:ce::254', // Google
  'fd00:42::42', // Scaleway
  'fd00:c1::a9fe:a9fe', // Oracle
]);

const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
const GLOBAL = ipaddr.IPv6.parseCIDR('2000::/3');

/** Normalizes an address. IPv4 embedded in IPv6 counts as IPv4. */
function parsed(address: string): ipaddr.IPv4 | ipaddr.IPv6 {
  const ip = ipaddr.process(address.replace(/%.*$/, ''));
  if (!(ip instanceof ipaddr.IPv6) || !ip.match(NAT64)) return ip;
  return ipaddr.process(ip.toByteArray().slice(12).join('.'));
}

export function networkOf(address: string): Network {
  const ip = parsed(address);
  if (METADATA.has(ip.toString())) return 'metadata';
  const network = NETWORKS[ip.range()] ?? 'reserved';
  return network === 'public' && ip instanceof ipaddr.IPv6 && !ip.match(GLOBAL) ? 'reserved' : network;
}

export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

const resolveHost: Resolve = (host) => lookup(host, { all: true });

/** The networks that contained every address of a service's name in this process. An entry can only shrink. */
const own = new Map<string, ReadonlySet<Network>>();

function noteAddresses(host: string, addresses: readonly LookupAddress[]): ReadonlySet<Network> {
  const networks = addresses.map(({ address }) => networkOf(address));
  const common = networks.every((network) => network === networks[0]) ? networks.slice(0, 1) : [];
  const earlier = own.get(host) ?? new Set(common);
  const kept = new Set(common.filter((network) => earlier.has(network)));
  own.set(host, kept);
  return kept;
}

/** Looks up the run service itself, which may be anywhere, and notes the addresses of its name. */
export const serviceLookup: LookupFunction = (host, options, answer) => {
  const lookups = lookup(host, { ...options, all: true }).then(
    (records) => (noteAddresses(host, records), records),
  );
  answerWith(lookups, options, answer);
};

/** Allows public addresses, and the network of the service at `base`. */
export function guardFor(base: string, what = "the file's address", resolve: Resolve = resolveHost) {
  const service = hostOf(new URL(base));
  const isAdmitted = async (address: string): Promise<boolean> => {
    const network = networkOf(address);
    if (network === 'public') return true;
    if (network === 'reserved') return false;
    // The proxy may resolve the service's name to another machine, and addresses of this machine never use a proxy.
    if (network === 'loopback' && proxyFor(new URL(base)) !== undefined) return false;
    if (isIP(service) === 0)
      return NAMED.has(network) && (await networksOfName(new URL(base), resolve)).has(network);
    return network === 'metadata' ? isSame(address, service) : networkOf(service) === network;
  };
  const refusedOf = async (addresses: readonly LookupAddress[]): Promise<readonly LookupAddress[]> => {
    const verdicts = await Promise.all(addresses.map(({ address }) => isAdmitted(address)));
    return addresses.filter((_, at) => !verdicts[at]);
  };
  /** The addresses of a host that may be connected to. Throws if there are none. */
  const addressesOf = async (host: string): Promise<readonly LookupAddress[]> => {
    const family = isIP(host);
    const addresses = family === 0 ? await resolve(host) : [{ address: host, family }];
    const refused = await refusedOf(addresses);
    const good = addresses.filter((address) => !refused.includes(address));
    if (good.length === 0) throw refusal(what, host, addresses[0]?.address ?? '');
    return good;
  };
  return {
    addressesOf,
    /** Throws if the host is a refused IP address. Host names are checked when they are resolved, or here if a proxy resolves them. */
    admit: async (url: URL): Promise<void> => {
      const host = hostOf(url);
      if (isIP(host) !== 0) await addressesOf(host);
      // The proxy chooses among the addresses. A name that only the proxy knows is the proxy's to refuse.
      else if (proxyFor(url) !== undefined) {
        const addresses = await soon(resolve(host));
        const refused = await refusedOf(addresses);
        if (refused[0] !== undefined) throw refusal(what, host, refused[0].address);
      }
    },
    /** Resolves a host name for a connection, which is then opened to one of the checked addresses. */
    lookup: ((host, options, answer) =>
      answerWith(addressesOf(host), options, answer)) satisfies LookupFunction,
  };
}
export type NetworkGuard = ReturnType<typeof guardFor>;

/** Empty if this machine does not resolve the name within two seconds. */
async function soon(lookups: Promise<readonly LookupAddress[]>): Promise<readonly LookupAddress[]> {
  const late = new Promise<readonly LookupAddress[]>((none) => setTimeout(none, 2_000, []).unref());
  return Promise.race([lookups.catch(() => []), late]);
}

/** The networks that a service's name can open. Link-local networks, where clouds serve metadata, open only to a literal address. */
const NAMED: ReadonlySet<Network> = new Set(['loopback', 'private', 'carrier-grade NAT']);

async function networksOfName(base: URL, resolve: Resolve): Promise<ReadonlySet<Network>> {
  const host = hostOf(base);
  const noted = own.get(host);
  if (noted !== undefined) return noted;
  return noteAddresses(host, await (proxyFor(base) === undefined ? resolve(host) : soon(resolve(host))));
}

const isSame = (a: string, b: string): boolean => parsed(a).toString() === parsed(b).toString();

function answerWith(
  finding: Promise<readonly LookupAddress[]>,
  { all: wantsAll = false, family }: LookupOptions,
  answer: Parameters<LookupFunction>[2],
): void {
  void finding.then(
    (addresses) => {
      const wanted = addresses.filter(
        (address) => ![4, 6].includes(Number(family)) || address.family === family,
      );
      const good = wanted.length > 0 ? wanted : addresses;
      if (wantsAll) answer(null, [...good]);
      else answer(null, good[0]?.address ?? '', good[0]?.family);
    },
    (refused: Error) => answer(refused, []),
  );
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1');

function refusal(what: string, host: string, address: string): FileFault {
  const where = host === address ? address : `${host} at ${address}`;
  const reason = `${what} leads to ${where}, a ${networkOf(address)} address, where the run service is not`;
  return new FileFault(reason, ONE_TRY);
}
