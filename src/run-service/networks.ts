// Decides to which addresses connections may be opened that a service or a batch names: for files, notifications and sheets of
// workflows. An address in our own machine or network is allowed only if the run service itself is in that network, with every
// address that its name ever had in this process. The IP address of the connection decides, not the host name.

import type { LookupAddress, LookupOptions } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { proxyFor } from '../host/proxies.ts';
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
  // A connection to it reaches the machine itself.
  unspecified: 'loopback',
  private: 'private',
  uniqueLocal: 'private',
  linkLocal: 'link-local',
  carrierGradeNat: 'carrier-grade NAT',
};

/** Where clouds give a machine its credentials and settings. */
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

/** One text for each address. An IPv4 address embedded in IPv6 counts as IPv4. */
function parsed(address: string): ipaddr.IPv4 | ipaddr.IPv6 {
  const found = ipaddr.process(address.replace(/%.*$/, ''));
  if (!(found instanceof ipaddr.IPv6) || !found.match(NAT64)) return found;
  return ipaddr.process(found.toByteArray().slice(12).join('.'));
}

export function networkOf(address: string): Network {
  const found = parsed(address);
  if (METADATA.has(found.toString())) return 'metadata';
  const network = NETWORKS[found.range()] ?? 'reserved';
  return network === 'public' && found instanceof ipaddr.IPv6 && !found.match(GLOBAL) ? 'reserved' : network;
}

export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

const resolveHost: Resolve = (host) => lookup(host, { all: true });

/** The networks in which every address was that a service's name ever had in this process. A change can only close some. */
const own = new Map<string, ReadonlySet<Network>>();

function noteAddresses(host: string, addresses: readonly LookupAddress[]): ReadonlySet<Network> {
  const found = addresses.map(({ address }) => networkOf(address));
  const all = found.every((network) => network === found[0]) ? found.slice(0, 1) : [];
  const known = own.get(host) ?? new Set(all);
  const kept = new Set(all.filter((network) => known.has(network)));
  own.set(host, kept);
  return kept;
}

/** For connections to the run service itself, which may be anywhere: what its name means is noted. */
export const serviceLookup: LookupFunction = (host, options, answer) => {
  const found = lookup(host, { ...options, all: true }).then((all) => (noteAddresses(host, all), all));
  answerWith(found, options, answer);
};

/** Allows public addresses, and the network of the service at `base`. */
export function guardFor(base: string, what = "the file's address", resolve: Resolve = resolveHost) {
  const service = hostOf(new URL(base));
  const isAdmitted = async (address: string): Promise<boolean> => {
    const network = networkOf(address);
    if (network === 'public') return true;
    if (network === 'reserved') return false;
    // The proxy may know the service's name as another machine, and no proxy is used for an address of this one.
    if (network === 'loopback' && proxyFor(new URL(base)) !== undefined) return false;
    if (isIP(service) === 0)
      return NAMED.has(network) && (await networksOfName(new URL(base), resolve)).has(network);
    return network === 'metadata' ? isSame(address, service) : networkOf(service) === network;
  };
  const refusedOf = async (found: readonly LookupAddress[]): Promise<readonly LookupAddress[]> => {
    const verdicts = await Promise.all(found.map(({ address }) => isAdmitted(address)));
    return found.filter((_, at) => !verdicts[at]);
  };
  /** The addresses of a host to which a connection may be opened. Throws if there are none. */
  const addressesOf = async (host: string): Promise<readonly LookupAddress[]> => {
    const family = isIP(host);
    const found = family === 0 ? await resolve(host) : [{ address: host, family }];
    const refused = await refusedOf(found);
    const good = found.filter((one) => !refused.includes(one));
    if (good.length === 0) throw refusal(what, host, found[0]?.address ?? '');
    return good;
  };
  return {
    addressesOf,
    /** Throws if the host is a refused IP address; host names are checked when they are resolved, or here if a proxy resolves them. */
    admit: async (url: URL): Promise<void> => {
      const host = hostOf(url);
      if (isIP(host) !== 0) await addressesOf(host);
      // The proxy chooses among the addresses. A name that only the proxy knows is for the proxy to refuse.
      else if (proxyFor(url) !== undefined) {
        const found = await soon(resolve(host));
        const refused = await refusedOf(found);
        if (refused[0] !== undefined) throw refusal(what, host, refused[0].address);
      }
    },
    /** Resolves a host name for a connection, which is then opened to one of the checked addresses. */
    lookup: ((host, options, answer) =>
      answerWith(addressesOf(host), options, answer)) satisfies LookupFunction,
  };
}
export type NetworkGuard = ReturnType<typeof guardFor>;

/** None if this machine does not know the name, or not within two seconds. */
async function soon(found: Promise<readonly LookupAddress[]>): Promise<readonly LookupAddress[]> {
  const late = new Promise<readonly LookupAddress[]>((none) => setTimeout(none, 2_000, []).unref());
  return Promise.race([found.catch(() => []), late]);
}

/** The networks that a service's name can open. Only its address itself opens link-local ones, where clouds have their metadata. */
const NAMED: ReadonlySet<Network> = new Set(['loopback', 'private', 'carrier-grade NAT']);

async function networksOfName(base: URL, resolve: Resolve): Promise<ReadonlySet<Network>> {
  const host = hostOf(base);
  const known = own.get(host);
  if (known !== undefined) return known;
  return noteAddresses(host, await (proxyFor(base) === undefined ? resolve(host) : soon(resolve(host))));
}

const isSame = (one: string, other: string): boolean => parsed(one).toString() === parsed(other).toString();

function answerWith(
  finding: Promise<readonly LookupAddress[]>,
  { all = false, family }: LookupOptions,
  answer: Parameters<LookupFunction>[2],
): void {
  void finding.then(
    (found) => {
      const wanted = found.filter((one) => ![4, 6].includes(Number(family)) || one.family === family);
      const good = wanted.length > 0 ? wanted : found;
      if (all) answer(null, [...good]);
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
