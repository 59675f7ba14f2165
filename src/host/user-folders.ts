// The folders of this user for settings, caches, and state that is valid in every working directory. In a container the user may
// have no home, or one that cannot be written.

import { accessSync, constants, existsSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { folderFault } from './own-folder.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** undefined without a home. */
export const configFolder = ({ XDG_CONFIG_HOME: configHome }: Environment): string | undefined =>
  configHome || inHome('.config');

/** The user's cache folder, or one in the state folder if none exists and none can be created. */
export function cacheFolder({ XDG_CACHE_HOME: cacheHome }: Environment, stateFolder: string): string {
  const users = cacheHome || inHome('.cache');
  const own = users && join(users, 'runsheet');
  return own !== undefined && (cacheHome || existsSync(own) || canMake(own))
    ? own
    : join(stateFolder, 'cache');
}

/** The user's folder for state; undefined if it cannot be written. */
export function usersFolder({ XDG_STATE_HOME: stateHome }: Environment): string | undefined {
  const users = stateHome || inHome(join('.local', 'state'));
  const folder = users && join(users, 'runsheet');
  return folder !== undefined && canMake(folder) ? folder : undefined;
}

/** The folder of notes about what this user trusts. Never in a working directory, whose content may come from a stranger. */
export function notesFolder(environment: Environment): string {
  const users = usersFolder(environment);
  // Root may work in the home of another user.
  const isUsed = users !== undefined && isAbsolute(users) && !(existsSync(users) && folderFault(users));
  return isUsed ? users : join(tmpdir(), `runsheet-${process.getuid?.() ?? 'user'}`);
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
  if (!existsSync(folder) && parent !== folder) return canMake(parent);
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
