import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { undefinedIfAbsent } from './store.ts';

/**
 * Deletes a folder, one subfolder after the other: Node's own removal holds all names of a tree in memory, 2 GB for a million. Of a
 * link to a folder, only the link.
 */
export async function deleteFolder(path: string): Promise<void> {
  const found = await lstat(path).catch(undefinedIfAbsent);
  const entries = found?.isDirectory() ? await readdir(path, { withFileTypes: true }) : [];
  for (const entry of entries) if (entry.isDirectory()) await deleteFolder(join(path, entry.name));
  await rm(path, { recursive: true, force: true });
}
