// The holder of a batch: the Temporal that runs it, and the process that wrote this record. Any command that reads
// the folder can name the holder, although its own servers know nothing of the batch.

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
  /** The namespace of embedded servers, which no other state folder has. */
  namespace: z.string().exactOptional(),
  /** The machine and the process that wrote this, and its version of runsheet. */
  host: z.string(),
  pid: z.number(),
  version: z.string(),
});

export type Holder = z.infer<typeof holderSchema>;

type Servers = Pick<Holder, 'kind' | 'home' | 'address' | 'namespace'>;

/** Describes this process as a user of these servers. */
export const holderHere = (servers: Servers): Holder => ({
  ...servers,
  host: hostname(),
  pid: process.pid,
  version,
});

/**
 * Whether both use the same servers, whatever the process. A machine may be renamed, and a program may not know the
 * address.
 */
export function isSameServers(a: Holder, b: Holder): boolean {
  if (a.kind !== b.kind) return false;
  const isNamed = a.namespace !== undefined && b.namespace !== undefined;
  if (a.kind === 'embedded')
    return isNamed ? a.namespace === b.namespace : a.home === b.home && a.host === b.host;
  const isElsewhere = a.address !== undefined && b.address !== undefined && a.address !== b.address;
  return !isElsewhere && a.namespace === b.namespace;
}

/** A command about a batch, as a user types it on the holder's machine. */
export function commandThere(
  { kind, home, address, namespace }: Holder,
  command: string,
  { batch, folder }: { readonly batch: string; readonly folder: string },
): string {
  const cluster = { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };
  const settings = Object.entries(kind === 'embedded' ? { RUNSHEET_HOME: home } : cluster);
  const assignments = settings.flatMap(([name, value]) =>
    value === undefined ? [] : `${name}=${shellWord(value)} `,
  );
  return `${assignments.join('')}runsheet ${command} ${shellWord(batch)} --out ${shellWord(dirname(folder))}`;
}

/** Text for messages: the servers, then the machine. Folders of earlier versions name no holder. */
export function holderText(holder: Holder | undefined): string {
  if (holder === undefined) return 'another Temporal';
  const { kind, home, address, namespace, host } = holder;
  const cluster = `Temporal${address === undefined ? '' : ` at ${address}`}, namespace ${namespace ?? 'default'}`;
  return `${kind === 'embedded' ? `the state folder ${home ?? '(unknown)'}` : cluster} on ${host}`;
}
