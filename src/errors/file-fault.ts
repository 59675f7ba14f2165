// Turns file system errors into error messages for users.

import { readFileSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { problem, errorMessage, type RunsheetError } from './error.ts';

const MEANINGS: Readonly<Record<string, string>> = {
  EACCES: 'this user has no permission to use it',
  EPERM: 'this user has no permission to use it',
  EROFS: 'its file system is read-only',
  ENOENT: 'it does not exist',
  ENOTDIR: 'a part of this path is a file, not a folder',
  EISDIR: 'it is a folder',
  EEXIST: 'it is a file, not a folder',
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'its symbolic links form a loop',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
  ENXIO: 'it is not a file',
  EIO: 'its disk reports an error',
};

/** Explains a file system error; undefined for any other error. */
export const meaningOf = (error: unknown): string | undefined =>
  MEANINGS[(error as NodeJS.ErrnoException).code ?? ''];

const NO_ROOM: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

/** E606 or E607 for a file system error; undefined for any other error. `use` holds the path that the user named. */
export function fileFault(
  error: unknown,
  use: { readonly path?: string; readonly hint?: string } = {},
): RunsheetError | undefined {
  const { code = '', ...failed } = error as NodeJS.ErrnoException;
  const path = use.path ?? failed.path;
  if (NO_ROOM.has(code))
    return problem('E607', { path: path ?? '', reason: errorMessage(error) }, { cause: error });
  const meaning = meaningOf(error);
  // An error during a read has no path.
  if (meaning === undefined || (path === undefined && !['read', 'write'].includes(failed.syscall ?? '')))
    return undefined;
  const hint = use.hint ?? 'check that it exists, and that this user may read and write it';
  return problem('E606', { path: path ?? 'a file', reason: `${meaning} (${code})`, hint }, { cause: error });
}

/** Throws the coded error for a file system error, or the error itself. */
export const throwFault = (error: unknown): never => {
  throw fileFault(error) ?? error;
};

/** undefined if there is no such file; every other error is thrown. */
export function textIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Creates a folder and its parents. Node's own recursive mkdir never ends for a folder in /proc. */
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
