import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Deletes a folder, one subfolder after the other: Node's own removal holds all names of a tree in memory, 2 GB for a million. */
export async function deleteFolder(path: string): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await deleteFolder(join(path, entry.name));
  await rm(path, { recursive: true, force: true });
}
