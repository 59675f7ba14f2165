// Decides from which networks files may be downloaded. The service can name any address; one in our own machine or network is
// allowed only if the run service itself is in that network. The IP address of the connection decides, not the host name.

import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { FileFault, ONE_TRY } from './file-faults.ts';

type Network = 'public' | 'loopback' | 'private' | 'link-local' | 'carrier-grade NAT' | 'reserved';

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

const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
const GLOBAL = ipaddr.IPv6.parseCIDR('2000::/3');

/** The network of an IP address. An IPv4 address embedded in IPv6 counts as IPv4. */
export function networkOf(address: string): Network {
  const parsed = ipaddr.process(address.replace(/%.*$/, ''));
  if (!(parsed instanceof ipaddr.IPv6)) return NETWORKS[parsed.range()] ?? 'reserved';
  if (parsed.match(NAT64)) return networkOf(parsed.toByteArray().slice(12).join('.'));
  const network = NETWORKS[parsed.range()] ?? 'reserved';
  return network === 'public' && !parsed.match(GLOBAL) ? 'reserved' : network;
}

export type NetworkGuard = {
  /** Throws if the host is a refused IP address; host names are checked when they are resolved. */
  admit(url: URL): Promise<void>;
  /** Resolves a host name for a connection, without refused addresses. */
  readonly lookup: LookupFunction;
};

/** Allows public addresses, and the networks of the service at `base`. */
export function guardFor(base: string, what = "the file's address"): NetworkGuard {
  let known: Promise<ReadonlySet<Network>> | undefined;
  const own = (): Promise<ReadonlySet<Network>> => {
    known ??= networksOf(hostOf(new URL(base)));
    known.catch(() => (known = undefined));
    return known;
  };
  const isAdmitted = async (address: string): Promise<boolean> => {
    const network = networkOf(address);
    return network === 'public' || (network !== 'reserved' && (await own()).has(network));
  };
  const admitted = async (host: string, found: readonly LookupAddress[]): Promise<LookupAddress[]> => {
    const verdicts = await Promise.all(found.map(({ address }) => isAdmitted(address)));
    const good = found.filter((_, at) => verdicts[at]);
    if (good.length === 0) throw refusal(what, host, found[0]?.address ?? '');
    return good;
  };
  return {
    admit: async (url) => {
      const host = hostOf(url);
      const family = isIP(host);
      if (family !== 0) await admitted(host, [{ address: host, family }]);
    },
    lookup: (host, options, answer) => {
      const found = lookup(host, { ...options, all: true }).then((all) => admitted(host, all));
      void found.then(
        (good) => (options.all ? answer(null, good) : answer(null, good[0]?.address ?? '', good[0]?.family)),
        (refused: Error) => answer(refused, []),
      );
    },
  };
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1');

async function networksOf(host: string): Promise<ReadonlySet<Network>> {
  const addresses = isIP(host) === 0 ? await lookup(host, { all: true }) : [{ address: host }];
  return new Set(addresses.map(({ address }) => networkOf(address)));
}

function refusal(what: string, host: string, address: string): FileFault {
  const where = host === address ? address : `${host} at ${address}`;
  const reason = `${what} leads to ${where}, a ${networkOf(address)} address, where the run service is not`;
  return new FileFault(reason, ONE_TRY);
}
