// Removes folders with very many files: a folder disappears immediately under a hidden name, and its files are
// deleted afterwards, which takes a disk minutes for a million of them. If the command is killed meanwhile, the next
// `clean` removes the remaining files.

import { randomBytes } from 'node:crypto';
import { lstat, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { undefinedIfAbsent } from './store.ts';

const PREFIX = '.removed-';
const HIDDEN = /^\.removed-.+-[0-9a-f]{8}$/;

/** Folders whose deletion has begun. */
export const isDiscarded = (name: string): boolean => HIDDEN.test(name);

/** Discards the folder; resolves when its files are deleted too. */
export async function discardFolder(path: string): Promise<void> {
  const hidden = await hide(path);
  if (hidden !== undefined) await deleteFolder(hidden);
}

/**
 * Returns the hidden name; undefined if there is no such folder. Empties a folder that cannot be renamed, such as a
 * mounted disk.
 */
async function hide(path: string): Promise<string | undefined> {
  if (isDiscarded(basename(path))) return path;
  const hidden = join(dirname(path), `${PREFIX}${basename(path)}-${randomBytes(4).toString('hex')}`);
  try {
    await rename(path, hidden);
    return hidden;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') await deleteFolder(path);
    return undefined;
  }
}

/**
 * Deletes one subfolder after the other: Node's own removal holds all names of a tree in memory, 2 GB for a million.
 * Of a link, deletes only the link.
 */
async function deleteFolder(path: string): Promise<void> {
  const stats = await lstat(path).catch(undefinedIfAbsent);
  const entries = stats?.isDirectory() ? await readdir(path, { withFileTypes: true }) : [];
  for (const entry of entries) if (entry.isDirectory()) await deleteFolder(join(path, entry.name));
  await rm(path, { recursive: true, force: true });
}
