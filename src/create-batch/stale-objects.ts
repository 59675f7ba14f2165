// Finds leftovers in a store that is not on this machine: error lists, and layouts that no batch.json names. Unfinished files are
// hidden there and go with their batch, and its folders have no times of their own.

import pMap from 'p-map';
import { BATCH_FILE, LAYOUT, readBatchFile } from '../store/batch-file.ts';
import { type Store, within } from '../store/store.ts';
import { isErrorList } from './error-list.ts';

/** What can be removed: a path of this machine, or an address and how. */
export type Stale = {
  readonly path: string;
  readonly remove?: () => Promise<void>;
  /** Why it cannot be read; so nothing is removed there. */
  readonly fault?: string;
};

/** Everything that was written before this time. */
export async function staleElsewhere(store: Store, before: number): Promise<readonly Stale[]> {
  const found = [...(await staleFiles(store, before))];
  for (const name of await store.folders('')) found.push(...(await staleLayouts(store, name, before)));
  return found;
}

/** Whether the place of a batch has nothing but layouts of commands that were killed. */
export async function hasOnlyLayouts(store: Store): Promise<boolean> {
  const [files, folders, stray, marks] = await Promise.all([
    store.list(''),
    store.folders(''),
    store.list(LAYOUT),
    store.folders(LAYOUT),
  ]);
  const isLayout = folders.every((name) => name === LAYOUT) && marks.every((mark) => MARK.test(mark));
  return files.length === 0 && stray.length === 0 && isLayout;
}

export const MARK = /^[0-9a-f]{16}$/;

async function staleFiles(store: Store, before: number): Promise<readonly Stale[]> {
  const found: Stale[] = [];
  for (const name of await store.list(''))
    if ((await isErrorList(store, name)) && (await isOlder(store, name, before)))
      found.push({ path: `${store.location}/${name}`, remove: () => store.remove(name) });
  return found;
}

/** Layouts that batch.json does not name; an unknown batch.json names all of them. */
async function staleLayouts(out: Store, batch: string, before: number): Promise<readonly Stale[]> {
  const store = within(out, batch);
  const marks = (await store.folders(LAYOUT)).filter((mark) => MARK.test(mark));
  const hasBatch = await store.exists(BATCH_FILE);
  const file = hasBatch ? await readBatchFile(store).catch(() => undefined) : undefined;
  if (hasBatch && file === undefined) return [];
  if (!hasBatch && !(await hasOnlyLayouts(store))) return [];
  const found: Stale[] = [];
  for (const mark of marks) {
    const layout = within(store, `${LAYOUT}/${mark}`);
    if (mark !== file?.mark && (await isWholeOlder(layout, '', before)))
      found.push({ path: layout.location, remove: () => layout.clear('') });
  }
  return found;
}

/** A folder of a bucket has no time of its own, so every file counts: a large layout is written for a long time. */
async function isWholeOlder(store: Store, folder: string, before: number): Promise<boolean> {
  const at = (name: string): string => (folder === '' ? name : `${folder}/${name}`);
  const isFileOlder = (name: string): Promise<boolean> => isOlder(store, at(name), before);
  const areOlder = await pMap(await store.list(folder), isFileOlder, { concurrency: LOOKED_AT });
  if (!areOlder.every(Boolean)) return false;
  for (const name of await store.folders(folder))
    if (!(await isWholeOlder(store, at(name), before))) return false;
  return true;
}

const LOOKED_AT = 32;

/** A file that another command removes meanwhile is no leftover. */
const isOlder = async (store: Store, name: string, before: number): Promise<boolean> =>
  ((await store.facts(name))?.modifiedAt ?? Number.POSITIVE_INFINITY) <= before;
