// What refused sheets and commands that were killed leave in a place: lists of problems, copies that were never laid out, and
// layouts that no batch.json names.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { BATCH_FILE, LAYOUT, readBatchFile } from '../store/batch-file.ts';
import { folderStore } from '../store/folder.ts';

/** Paths that can be removed; of what was touched within the last `ageMs` nothing. */
export async function stalePaths(out: string, ageMs: number): Promise<readonly string[]> {
  if (!existsSync(out)) return [];
  const isOld = (path: string): boolean => Date.now() - statSync(path).mtimeMs >= ageMs;
  const found: string[] = [];
  for (const entry of readdirSync(out, { withFileTypes: true })) {
    const path = join(out, entry.name);
    const isStaleFile = entry.isFile() && entry.name.endsWith('-errors.csv');
    const isStaleFolder = entry.isDirectory() && entry.name.startsWith('.incoming-');
    if (isStaleFile || isStaleFolder) found.push(path);
    else if (entry.isDirectory()) found.push(...(await staleLayouts(path)));
  }
  return found.filter(isOld);
}

/** Layouts of a batch folder that its batch.json does not name; the whole folder where it has none, and nothing else. */
async function staleLayouts(folder: string): Promise<readonly string[]> {
  const layouts = existsSync(join(folder, LAYOUT)) ? readdirSync(join(folder, LAYOUT)) : [];
  if (layouts.length === 0) return [];
  if (!existsSync(join(folder, BATCH_FILE))) {
    const isLeft = readdirSync(folder).every((name) => name === LAYOUT || name.startsWith('.'));
    return isLeft ? [folder] : [];
  }
  // A batch that this version cannot read keeps all that it has.
  const file = await readBatchFile(folderStore(folder)).catch(() => undefined);
  if (file === undefined) return [];
  return layouts.filter((mark) => mark !== file.mark).map((mark) => join(folder, LAYOUT, mark));
}
