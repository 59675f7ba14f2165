// Where files may be fetched from. The service names any address that it likes; one of our own machine or network is only
// followed where the run service itself is there. The address that is connected to decides, not the name that led to it.

import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { FileFault, ONE_TRY } from './file-faults.ts';

type Network = 'public' | 'loopback' | 'private' | 'link-local' | 'carrier-grade NAT' | 'reserved';

const NETWORKS: Readonly<Record<string, Network>> = {
  unicast: 'public',
  loopback: 'loopback',
  // Connecting to it leads to the machine itself.
  unspecified: 'loopback',
  private: 'private',
  uniqueLocal: 'private',
  linkLocal: 'link-local',
  carrierGradeNat: 'carrier-grade NAT',
};

const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
const GLOBAL = ipaddr.IPv6.parseCIDR('2000::/3');

/** The network of a literal address. An IPv4 address in an IPv6 one is judged as what it is. */
export function networkOf(address: string): Network {
  const parsed = ipaddr.process(address.replace(/%.*$/, ''));
  if (!(parsed instanceof ipaddr.IPv6)) return NETWORKS[parsed.range()] ?? 'reserved';
  if (parsed.match(NAT64)) return networkOf(parsed.toByteArray().slice(12).join('.'));
  const network = NETWORKS[parsed.range()] ?? 'reserved';
  return network === 'public' && !parsed.match(GLOBAL) ? 'reserved' : network;
}

export type NetworkGuard = {
  /** Throws where the address is a literal one that is refused; names are judged when they are looked up. */
  admit(url: URL): Promise<void>;
  /** Looks names up for a connection, without the addresses that are refused. */
  readonly lookup: LookupFunction;
};

/** Admits public addresses, and those of the networks that the service at `base` is in. */
export function guardFor(base: string): NetworkGuard {
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
    if (good.length === 0) throw refusal(host, found[0]?.address ?? '');
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

function refusal(host: string, address: string): FileFault {
  const where = host === address ? address : `${host} at ${address}`;
  const reason = `its address leads to ${where}, which is ${networkOf(address)}, and the run service is not there`;
  return new FileFault(reason, ONE_TRY);
}
