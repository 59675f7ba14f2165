// Files and folders that cannot be used, in words: what the system says is a name and a path.

import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { problem, errorMessage, type RunsheetError } from './error.ts';

/** What the system's names for a fault mean. */
const MEANINGS: Readonly<Record<string, string>> = {
  EACCES: 'this user may not use it',
  EPERM: 'this user may not use it',
  EROFS: 'it lies on a file system that can only be read',
  ENOENT: 'there is nothing of that name',
  ENOTDIR: 'a part of this path is a file, not a folder',
  EISDIR: 'it is a folder',
  EEXIST: 'it is a file, not a folder',
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'its links go round in a circle',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
  ENXIO: 'it is no file',
  EIO: 'its disk fails',
};

/** What the file system has against it, in words; undefined for any other error. */
export const meaningOf = (error: unknown): string | undefined =>
  MEANINGS[(error as NodeJS.ErrnoException).code ?? ''];

const NO_ROOM: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

/** E606 or E607 for a fault of the file system; undefined for any other error. `use` tells what the user named. */
export function fileFault(
  error: unknown,
  use: { readonly path?: string; readonly hint?: string } = {},
): RunsheetError | undefined {
  const { code = '', ...met } = error as NodeJS.ErrnoException;
  const path = use.path ?? met.path;
  if (NO_ROOM.has(code))
    return problem('E607', { path: path ?? '', reason: errorMessage(error) }, { cause: error });
  const meaning = meaningOf(error);
  // An error while reading has no path.
  if (meaning === undefined || (path === undefined && !['read', 'write'].includes(met.syscall ?? '')))
    return undefined;
  const hint = use.hint ?? 'check that it exists, and that this user may read and write it';
  return problem('E606', { path: path ?? 'a file', reason: `${meaning} (${code})`, hint }, { cause: error });
}

/** Makes a folder with all that it lies in. Node's own recursion does not end where a folder of /proc is asked for. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await makeOne(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await makeOne(path);
  }
}

async function makeOne(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST' && (await stat(path)).isDirectory();
    if (!isThere) throw error;
  }
}
