// Finds the leftovers of refused sheets and killed commands: error lists, copies without a layout, layouts that no batch.json
// names, and unfinished files.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { BATCH_FILE, LAYOUT, readBatchFile } from '../store/batch-file.ts';
import { isDiscarded } from '../store/discard-folder.ts';
import { isDraftName } from '../store/folder.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { INCOMING } from './copy-sheet.ts';
import type { Preparing } from './preparing.ts';
import { isErrorList } from './error-list.ts';
import { NAMES } from './reuse/reuse.ts';
import { hasOnlyLayouts, MARK, staleElsewhere, type Stale } from './stale-objects.ts';

/** All leftovers, except those that were modified within the last `ageMs`. */
export async function staleIn({ out, home }: Preparing, ageMs: number): Promise<readonly Stale[]> {
  const store = openStore(out);
  const before = Date.now() - ageMs;
  if (store.localPath !== undefined) return staleHere(store, out, before);
  const copies =
    home === undefined || !existsSync(home) ? [] : copiesIn(home).map((name) => join(home, name));
  const here = copies.filter(olderThan(before)).map((path) => ({ path }));
  return [...(await staleElsewhere(store, before)), ...here];
}

const olderThan =
  (before: number) =>
  (path: string): boolean =>
    statSync(path).mtimeMs <= before;

/** The names that `mkdtemp` gives to the folders of copies. */
const isIncoming = (name: string): boolean =>
  name.startsWith(INCOMING) && /^\w{6}$/.test(name.slice(INCOMING.length));

const copiesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && isIncoming(entry.name))
    .map(({ name }) => name);

async function staleHere(store: Store, out: string, before: number): Promise<readonly Stale[]> {
  if (!existsSync(out)) return [];
  const found = copiesIn(out).map((name) => join(out, name));
  for (const entry of readdirSync(out, { withFileTypes: true })) {
    const path = join(out, entry.name);
    if (entry.isFile() && (isDraftName(entry.name) || (await isErrorList(store, entry.name))))
      found.push(path);
    else if (isDiscarded(entry.name)) found.push(path);
    else if (entry.name === NAMES) found.push(...draftsIn(path));
    else if (entry.isDirectory() && !isIncoming(entry.name)) found.push(...(await staleInFolder(path)));
  }
  return found.filter(olderThan(before)).map((path) => ({ path }));
}

/** Drafts and layouts that batch.json does not name; the whole folder if it contains nothing else. */
async function staleInFolder(folder: string): Promise<readonly string[]> {
  if (!existsSync(join(folder, BATCH_FILE))) {
    // An empty folder may belong to the user.
    return readdirSync(folder).length > 0 && hasOnlyLeftovers(folder) ? [folder] : [];
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

/** Whether there is no such batch, or only leftovers of a command that was killed before it created batch.json. */
export async function isFree(store: Store): Promise<boolean> {
  const path = store.localPath?.('');
  if (path !== undefined) return !existsSync(path) || hasOnlyLeftovers(path);
  return hasOnlyLayouts(store);
}

function hasOnlyLeftovers(folder: string): boolean {
  return readdirSync(folder, { withFileTypes: true }).every((entry) => {
    if (entry.name !== LAYOUT || !entry.isDirectory()) return isDraftName(entry.name);
    return readdirSync(join(folder, LAYOUT)).every((mark) => MARK.test(mark) || isDiscarded(mark));
  });
}
