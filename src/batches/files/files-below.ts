// Lists files in the folders beside a sheet, for the hint of a cell that names none.

import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { nearest } from '../../errors/error.ts';

/** A sheet may lie in a home folder, so that the search ends early. */
const MAX_ENTRIES = 5000;
const MAX_DEPTH = 3;

/** The paths of files below the folder, from the folder; those in hidden folders are left out. */
export async function filesBelow(folder: string): Promise<readonly string[]> {
  const files: string[] = [];
  let folders = [''];
  let entries = 0;
  for (let depth = 0; depth < MAX_DEPTH && folders.length > 0; depth += 1) {
    const deeper: string[] = [];
    for (const path of folders) {
      for (const entry of await readdir(join(folder, path), { withFileTypes: true }).catch(() => [])) {
        entries += 1;
        if (entries > MAX_ENTRIES) return files;
        if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
        if (entry.isFile()) files.push(join(path, entry.name));
        else if (entry.isDirectory()) deeper.push(join(path, entry.name));
      }
    }
    folders = deeper;
  }
  return files;
}

/** The file of this name in any folder, or the one with the most similar name. */
export function nearestBelow(files: readonly string[], path: string): string | undefined {
  const name = basename(path.replaceAll('\\', '/'));
  const same = files.find((file) => basename(file) === name);
  if (same !== undefined) return same;
  const similar = nearest(
    name,
    files.map((file) => basename(file)),
  );
  return files.find((file) => basename(file) === similar);
}
