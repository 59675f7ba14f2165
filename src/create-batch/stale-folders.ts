// What refused sheets and commands that were killed leave in a place: lists of problems, copies that were never laid out,
// layouts that no batch.json names, and files that were never written to their end.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { BATCH_FILE, LAYOUT, readBatchFile } from '../store/batch-file.ts';
import { folderStore, isDraftName } from '../store/folder.ts';
import { isErrorList } from './error-list.ts';
import { NAMES } from './reuse.ts';

/** Paths that can be removed; of what was touched within the last `ageMs` nothing. */
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

/** As `mkdtemp` names the folder of a copy. */
const INCOMING = /^\.incoming-\w{6}$/;

/** Layouts of a batch folder that its batch.json does not name, and drafts; the whole folder where it has nothing else. */
async function staleIn(folder: string): Promise<readonly string[]> {
  if (!existsSync(join(folder, BATCH_FILE))) {
    // An empty folder may be anybody's.
    return readdirSync(folder).length > 0 && isLeftBehind(folder) ? [folder] : [];
  }
  // A batch that this version cannot read keeps all that it has.
  const file = await readBatchFile(folderStore(folder)).catch(() => undefined);
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

/** Whether a folder holds nothing but what a command leaves that is killed before it creates batch.json. */
export function isLeftBehind(folder: string): boolean {
  return readdirSync(folder, { withFileTypes: true }).every((entry) => {
    if (entry.name !== LAYOUT || !entry.isDirectory()) return isDraftName(entry.name);
    return readdirSync(join(folder, LAYOUT)).every((mark) => MARK.test(mark));
  });
}

const MARK = /^[0-9a-f]{16}$/;
