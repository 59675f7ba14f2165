// Lists files in the folders beside a sheet, for the hint of a cell that names none.

import { readdir } from 'node:fs/promises';
import { basename, extname, join, sep } from 'node:path';
import { nearest } from '../../errors/error.ts';
import { mediaKindOf } from '../../host/formats/media-types.ts';
import type { NearFile } from '../../sheet/misplaced-files.ts';

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

/** A file of this name in a folder below, or with an ending that the name lacks; the nearest to the folder first. */
export function placeBelow(files: readonly string[], path: string): NearFile | undefined {
  const name = path.replaceAll('\\', '/').replace(/^\.\//, '');
  if (name.startsWith('/') || name.startsWith('../')) return undefined;
  const own = files.map((file) => file.replaceAll(sep, '/'));
  const placed = (file: string, after: string): NearFile => ({
    before: file.slice(0, file.length - name.length - after.length),
    after,
  });
  const isIn = (file: string, written: string): boolean => file === written || file.endsWith(`/${written}`);
  const same = own.find((file) => isIn(file, name));
  if (same !== undefined) return placed(same, '');
  const longer = own.find(
    (file) => mediaKindOf(file) !== undefined && isIn(file.slice(0, -extname(file).length), name),
  );
  return longer === undefined ? undefined : placed(longer, extname(longer));
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
