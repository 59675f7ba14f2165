// Folders that only this user may write to. In a shared folder such as /tmp, another user can create the expected folder or a
// link first, and then write what this user reads.

import { chmodSync, lstatSync, mkdirSync, type Stats } from 'node:fs';

/** Why others may have written to the folder. */
export type FolderFault = 'link' | 'stranger' | 'writable';

/** Creates the folder and makes it private. If others may have written to it, returns the reason and leaves it alone. */
export function takeOwnFolder(path: string): FolderFault | undefined {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  // Windows has no such permissions.
  if (process.getuid === undefined) return undefined;
  const stats = lstatSync(path);
  const fault = faultOf(stats, process.getuid());
  if (fault === undefined && (stats.mode & 0o077) !== 0) chmodSync(path, 0o700);
  return fault;
}

/** Like {@link takeOwnFolder}, for an existing folder, which stays as it is. */
export const folderFault = (path: string): FolderFault | undefined =>
  process.getuid === undefined ? undefined : faultOf(lstatSync(path), process.getuid());

function faultOf(stats: Stats, uid: number): FolderFault | undefined {
  if (stats.isSymbolicLink()) return 'link';
  if (stats.uid !== uid) return 'stranger';
  return (stats.mode & 0o022) === 0 ? undefined : 'writable';
}
