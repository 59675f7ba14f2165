// Removes folders with very many files: a folder disappears immediately under a hidden name of its own, and its files are deleted
// afterwards, which takes a disk minutes for a million of them. A command that is killed meanwhile leaves the rest to the next `clean`.

import { randomBytes } from 'node:crypto';
import { lstat, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { undefinedIfAbsent } from './store.ts';

const PREFIX = '.removed-';
const HIDDEN = /^\.removed-.+-[0-9a-f]{8}$/;

/** Folders whose deletion has begun. */
export const isDiscarded = (name: string): boolean => HIDDEN.test(name);

/** Resolves when the files are deleted too. */
export async function discardFolder(path: string): Promise<void> {
  const hidden = await hide(path);
  if (hidden !== undefined) await deleteFolder(hidden);
}

/** The hidden name; undefined if there is no such folder. A folder that cannot be renamed, such as a mounted disk, is emptied here. */
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

/** One subfolder after the other: Node's own removal holds all names of a tree in memory, 2 GB for a million. Of a link, only the link. */
async function deleteFolder(path: string): Promise<void> {
  const found = await lstat(path).catch(undefinedIfAbsent);
  const entries = found?.isDirectory() ? await readdir(path, { withFileTypes: true }) : [];
  for (const entry of entries) if (entry.isDirectory()) await deleteFolder(join(path, entry.name));
  await rm(path, { recursive: true, force: true });
}
