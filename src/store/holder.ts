// The holder of a batch: the Temporal that runs it, and the process that wrote this. Any command that meets the folder can name
// it, although its own servers know nothing of the batch.

import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { z } from 'zod';
import { shellWord } from '../errors/outside-text.ts';
import { version } from '../host/package-version.ts';

export const holderSchema = z.object({
  /** `embedded`: the servers of a state folder. */
  kind: z.enum(['embedded', 'cluster']),
  /** The state folder of embedded servers, as an absolute path. */
  home: z.string().exactOptional(),
  /** The address of a cluster, if the worker knows it. */
  address: z.string().exactOptional(),
  /** No other state folder has the namespace of embedded servers. */
  namespace: z.string().exactOptional(),
  /** The machine and the process that wrote this, and its version of runsheet. */
  host: z.string(),
  pid: z.number(),
  version: z.string(),
});

export type Holder = z.infer<typeof holderSchema>;

type Servers = Pick<Holder, 'kind' | 'home' | 'address' | 'namespace'>;

/** This process, as a user of these servers. */
export const holderHere = (servers: Servers): Holder => ({
  ...servers,
  host: hostname(),
  pid: process.pid,
  version,
});

/** Whether both are the same servers, whichever process. A machine may get another name, and a program may not know the address. */
export function isSameServers(one: Holder, other: Holder): boolean {
  if (one.kind !== other.kind) return false;
  const isNamed = one.namespace !== undefined && other.namespace !== undefined;
  if (one.kind === 'embedded')
    return isNamed ? one.namespace === other.namespace : one.home === other.home && one.host === other.host;
  const isElsewhere =
    one.address !== undefined && other.address !== undefined && one.address !== other.address;
  return !isElsewhere && one.namespace === other.namespace;
}

/** A command about a batch, as a user types it where the holder is. */
export function commandThere(
  { kind, home, address, namespace }: Holder,
  command: string,
  { batch, folder }: { readonly batch: string; readonly folder: string },
): string {
  const cluster = { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };
  const settings = Object.entries(kind === 'embedded' ? { RUNSHEET_HOME: home } : cluster);
  const given = settings.flatMap(([name, value]) =>
    value === undefined ? [] : `${name}=${shellWord(value)} `,
  );
  return `${given.join('')}runsheet ${command} ${shellWord(batch)} --out ${shellWord(dirname(folder))}`;
}

/** For messages: the servers, then the machine. Folders of earlier versions name no holder. */
export function holderText(holder: Holder | undefined): string {
  if (holder === undefined) return 'another Temporal';
  const { kind, home, address, namespace, host } = holder;
  const cluster = `Temporal${address === undefined ? '' : ` at ${address}`}, namespace ${namespace ?? 'default'}`;
  return `${kind === 'embedded' ? `the state folder ${home ?? '(unknown)'}` : cluster} on ${host}`;
}
