// A folder of this user alone. In a shared folder such as /tmp, another user can create a folder of an expected name first, or a
// link, and then write what this user reads.

import { chmodSync, lstatSync, mkdirSync, type Stats } from 'node:fs';

/** Why others may have written to the folder. */
export type FolderFault = 'link' | 'stranger' | 'writable';

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

/** As {@link takeOwnFolder}, of a folder that exists, which stays as it is. */
export const folderFault = (path: string): FolderFault | undefined =>
  process.getuid === undefined ? undefined : faultOf(lstatSync(path), process.getuid());

function faultOf(stats: Stats, uid: number): FolderFault | undefined {
  if (stats.isSymbolicLink()) return 'link';
  if (stats.uid !== uid) return 'stranger';
  return (stats.mode & 0o022) === 0 ? undefined : 'writable';
}
