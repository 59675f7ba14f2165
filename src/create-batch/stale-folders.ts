// Finds the leftovers of refused sheets and killed commands: error lists, copies without a layout, layouts that no batch.json
// names, and unfinished files.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { BATCH_FILE, LAYOUT, readBatchFile } from '../store/batch-file.ts';
import { isDraftName } from '../store/folder.ts';
import { openStore } from '../store/open-store.ts';
import { isErrorList } from './error-list.ts';
import { NAMES } from './reuse/reuse.ts';

/** Paths that can be removed, except those that were modified within the last `ageMs`. */
export async function stalePaths(out: string, ageMs: number): Promise<readonly string[]> {
  if (!existsSync(out)) return [];
  const isOld = (path: string): boolean => Date.now() - statSync(path).mtimeMs >= ageMs;
  const found: string[] = [];
  for (const entry of readdirSync(out, { withFileTypes: true })) {
    const path = join(out, entry.name);
    const isStaleFile = entry.isFile() && (isErrorList(path) || isDraftName(entry.name));
    const isStaleFolder = entry.isDirectory() && INCOMING.test(entry.name);
    if (isStaleFile || isStaleFolder) found.push(path);
    else if (entry.name === NAMES) found.push(...draftsIn(path));
    else if (entry.isDirectory()) found.push(...(await staleIn(path)));
  }
  return found.filter(isOld);
}

/** The names that `mkdtemp` gives to the folders of copies. */
const INCOMING = /^\.incoming-\w{6}$/;

/** Drafts and layouts that batch.json does not name; the whole folder if it contains nothing else. */
async function staleIn(folder: string): Promise<readonly string[]> {
  if (!existsSync(join(folder, BATCH_FILE))) {
    // An empty folder may belong to the user.
    return readdirSync(folder).length > 0 && isLeftBehind(folder) ? [folder] : [];
  }
  // Nothing is removed from a batch that this version cannot read.
  const file = await readBatchFile(openStore(folder)).catch(() => undefined);
  if (file === undefined) return [];
  const layouts = existsSync(join(folder, LAYOUT)) ? readdirSync(join(folder, LAYOUT)) : [];
  return [
    ...layouts.filter((mark) => mark !== file.mark).map((mark) => join(folder, LAYOUT, mark)),
    ...draftsIn(folder),
  ];
}

const draftsIn = (folder: string): readonly string[] =>
  readdirSync(folder)
    .filter(isDraftName)
    .map((name) => join(folder, name));

/** Whether a folder contains only leftovers of a command that was killed before it created batch.json. */
export function isLeftBehind(folder: string): boolean {
  return readdirSync(folder, { withFileTypes: true }).every((entry) => {
    if (entry.name !== LAYOUT || !entry.isDirectory()) return isDraftName(entry.name);
    return readdirSync(join(folder, LAYOUT)).every((mark) => MARK.test(mark));
  });
}

const MARK = /^[0-9a-f]{16}$/;
