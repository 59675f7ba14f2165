// Creates and checks the state folder, which contains keys and the addresses of our servers. In a shared folder such as /tmp
// another user could create it first with a known key, so a folder that others can write is refused.

import { chmodSync, lstatSync, mkdirSync, type Stats } from 'node:fs';
import { problem } from '../errors/error.ts';
import { shellWord } from '../errors/outside-text.ts';

type Text = { readonly reason: string; readonly hint: string };

const ELSEWHERE = 'set RUNSHEET_HOME to a folder of your own';

/** Creates the folder and makes it private. Throws E606 if other users may have written to it. */
export function takeStateFolder(home: string): void {
  const fault = takeOwnFolder(home);
  if (fault !== undefined) throw problem('E606', { path: home, ...TEXTS[fault](home) });
}

const TEXTS: Readonly<Record<FolderFault, (home: string) => Text>> = {
  link: () => ({ reason: 'it is a symbolic link', hint: 'set RUNSHEET_HOME to the folder itself' }),
  stranger: (home) => ({
    reason: 'it belongs to another user, who may know the keys in it',
    hint: `${ELSEWHERE}; if you trust its content: chown ${process.getuid?.()} ${shellWord(home)}`,
  }),
  writable: (home) => ({
    reason: 'other users can write to it, and may have placed their key there',
    hint: `${ELSEWHERE}; if you trust its content: chmod 700 ${shellWord(home)}`,
  }),
};

// A folder of this user alone. In a shared folder such as /tmp, another user can create a folder of an expected name first, or a
// link, and then write what this user reads.

/** Why others may have written to the folder. */
type FolderFault = 'link' | 'stranger' | 'writable';

/** Creates the folder and makes it private; does not touch a folder that others may have written to, and returns why. */
export function takeOwnFolder(path: string): FolderFault | undefined {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  // Windows has no such permissions.
  if (process.getuid === undefined) return undefined;
  const stats = lstatSync(path);
  const fault = faultOf(stats, process.getuid());
  if (fault === undefined && (stats.mode & 0o077) !== 0) chmodSync(path, 0o700);
  return fault;
}

function faultOf(stats: Stats, uid: number): FolderFault | undefined {
  if (stats.isSymbolicLink()) return 'link';
  if (stats.uid !== uid) return 'stranger';
  return (stats.mode & 0o022) === 0 ? undefined : 'writable';
}
