// Creates and checks the state folder, which contains keys and the addresses of our servers. In a shared folder such as /tmp
// another user could create it first with a known key, so a folder that others can write is refused.

import { chmodSync, lstatSync, mkdirSync, type Stats } from 'node:fs';
import { problem } from '../errors/error.ts';
import { shellWord } from '../errors/outside-text.ts';

type Fault = { readonly reason: string; readonly hint: string };

const ELSEWHERE = 'set RUNSHEET_HOME to a folder of your own';

/** Creates the folder and makes it private. Throws E606 if other users may have written to it. */
export function takeStateFolder(home: string): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  // Windows has no such permissions.
  if (process.getuid === undefined) return;
  const stats = lstatSync(home);
  const fault = faultOf(home, stats, process.getuid());
  if (fault !== undefined) throw problem('E606', { path: home, ...fault });
  if ((stats.mode & 0o077) !== 0) chmodSync(home, 0o700);
}

function faultOf(home: string, stats: Stats, uid: number): Fault | undefined {
  if (stats.isSymbolicLink())
    return { reason: 'it is a symbolic link', hint: 'set RUNSHEET_HOME to the folder itself' };
  if (stats.uid !== uid)
    return {
      reason: 'it belongs to another user, who may know the keys in it',
      hint: `${ELSEWHERE}; if you trust its content: chown ${uid} ${shellWord(home)}`,
    };
  if ((stats.mode & 0o022) !== 0)
    return {
      reason: 'other users can write to it, and may have placed their key there',
      hint: `${ELSEWHERE}; if you trust its content: chmod 700 ${shellWord(home)}`,
    };
  return undefined;
}
