// The name of the servers of a state folder: a Temporal namespace that no other server has.

import { join } from 'node:path';
import { textIfThere } from '../../errors/file-fault.ts';
import { readOrCreateSecret } from '../../host/state-folder.ts';

const fileOf = (home: string): string => join(home, 'instance');
const named = (instance: string): string => `runsheet-${instance.slice(0, 8)}`;

/** The namespace of the servers; a server without it is another program on our port. */
export const namespaceOf = (home: string): string => named(readOrCreateSecret(fileOf(home)));

/** undefined if no servers have run in the folder. */
export function namespaceIn(home: string): string | undefined {
  const instance = textIfThere(fileOf(home))?.trim();
  return instance ? named(instance) : undefined;
}
