// The folders of this user for settings and caches. In a container the user may have no home, or one that cannot be written.

import { accessSync, constants, existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** undefined without a home. */
export const configFolder = ({ XDG_CONFIG_HOME: given }: Environment): string | undefined =>
  given || inHome('.config');

/** The user's, unless there is none and none can be made: then one in the state folder. */
export function cacheFolder({ XDG_CACHE_HOME: given }: Environment, stateFolder: string): string {
  const users = given || inHome('.cache');
  const own = users && join(users, 'runsheet');
  return own !== undefined && (given || existsSync(own) || canMake(own)) ? own : join(stateFolder, 'cache');
}

function inHome(name: string): string | undefined {
  try {
    return join(homedir(), name);
  } catch {
    return undefined;
  }
}

function canMake(folder: string): boolean {
  const parent = dirname(folder);
  if (!existsSync(parent) && parent !== folder) return canMake(parent);
  try {
    accessSync(parent, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
