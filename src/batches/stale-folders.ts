// Finds the leftovers of refused sheets and killed commands: error lists, copies without a layout, layouts that no batch.json
// names, and unfinished files.

import { existsSync, lstatSync, readdirSync, type Dirent } from 'node:fs';
import { join } from 'node:path';
import { errorMessage } from '../errors/error.ts';
import { BATCH_FILE, LAYOUT, readBatchFile } from '../store/batch-file.ts';
import { isDiscarded } from '../store/discard-folder.ts';
import { isDraftName } from '../store/folder.ts';
import { openStore } from '../store/open-store.ts';
import { type Store, startOf } from '../store/store.ts';
import type { SheetCopy } from './copy-sheet.ts';
import { INCOMING, type Preparing } from './incoming-folder.ts';
import { stemOf } from './batch-id.ts';
import { MADE } from './batch-log.ts';
import { NAMES } from './reuse/reuse.ts';
import { ERRORS_HEADER, type ErrorsPlace } from '../sheet/validation-errors.ts';

/** Lists the leftovers on this machine, except those that were modified within the last `ageMs`. In a bucket, they are small, and stay. */
export async function staleIn({ out, home }: Preparing, ageMs: number): Promise<readonly Stale[]> {
  const store = openStore(out);
  const before = Date.now() - ageMs;
  if (store.localPath !== undefined) return staleHere(store, out, before);
  const copies =
    home === undefined || !existsSync(home) ? [] : copiesIn(home).map((name) => join(home, name));
  return copies.filter(olderThan(before)).map((path) => ({ path }));
}

const olderThan =
  (before: number) =>
  (path: string): boolean =>
    (lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY) <= before;

/** The names that `mkdtemp` gives to the folders of copies. */
const isIncoming = (name: string): boolean =>
  name.startsWith(INCOMING) && /^\w{6}$/.test(name.slice(INCOMING.length));

const copiesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && isIncoming(entry.name))
    .map(({ name }) => name);

async function staleHere(store: Store, out: string, before: number): Promise<readonly Stale[]> {
  if (!existsSync(out)) return [];
  const leftovers: Stale[] = copiesIn(out).map((name) => ({ path: join(out, name) }));
  for (const entry of readdirSync(out, { withFileTypes: true })) {
    const path = join(out, entry.name);
    try {
      for (const stale of await staleAt(store, entry, path)) leftovers.push({ path: stale });
    } catch (error) {
      leftovers.push({ path, fault: errorMessage(error) });
    }
  }
  return leftovers.filter(({ path, fault }) => fault !== undefined || olderThan(before)(path));
}

/** The leftovers that an entry of the folder of the batches is or has. */
async function staleAt(store: Store, entry: Dirent, path: string): Promise<readonly string[]> {
  const { name } = entry;
  if (isDiscarded(name)) return [path];
  if (entry.isFile()) return isDraftName(name) || (await isErrorList(store, name)) ? [path] : [];
  // Through a link, files of others would be removed.
  if (!entry.isDirectory() || isIncoming(name) || name === LOST_AND_FOUND) return [];
  return name === NAMES || name === MADE ? draftsIn(path) : staleInFolder(path);
}

/** The root of a disk has it, and only root can read it. */
const LOST_AND_FOUND = 'lost+found';

/** Drafts and layouts that batch.json does not name; the whole folder if it contains nothing else. */
async function staleInFolder(folder: string): Promise<readonly string[]> {
  if (!existsSync(join(folder, BATCH_FILE))) {
    // An empty folder may belong to the user.
    return readdirSync(folder).length > 0 && hasOnlyLeftovers(folder) ? [folder] : [];
  }
  // Nothing is removed from a batch that this version cannot read.
  const file = await readBatchFile(openStore(folder)).catch(() => undefined);
  if (file === undefined) return [];
  const layouts = layoutsIn(folder).filter((mark) => mark !== file.mark);
  return [...layouts.map((mark) => join(folder, LAYOUT, mark)), ...draftsIn(folder)];
}

/** Empty if `layout` is a link, because a batch must not remove anything outside its folder. */
function layoutsIn(folder: string): readonly string[] {
  const path = join(folder, LAYOUT);
  const isOwn = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return isOwn ? readdirSync(path).filter(isLayout) : [];
}

const isLayout = (name: string): boolean => MARK.test(name) || isDiscarded(name);

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
    return readdirSync(join(folder, LAYOUT)).every(isLayout);
  });
}

/** A removable leftover: a path of this machine, or an address with its `remove`. */
export type Stale = {
  readonly path: string;
  readonly remove?: () => Promise<void>;
  /** Why it cannot be read; so nothing is removed there. */
  readonly fault?: string;
  /** Why it is not removed, although it is old. */
  readonly kept?: string;
};

/** Whether the place of a batch has nothing but layouts of commands that were killed. */
export async function hasOnlyLayouts(store: Store): Promise<boolean> {
  const [files, folders, stray, marks] = await Promise.all([
    store.list(''),
    store.folders(''),
    store.list(LAYOUT),
    store.folders(LAYOUT),
  ]);
  const areLayouts = folders.every((name) => name === LAYOUT) && marks.every((mark) => MARK.test(mark));
  return files.length === 0 && stray.length === 0 && areLayouts;
}

const MARK = /^[0-9a-f]{16}$/;

const NAME = /-errors(-\d+)?\.csv$/;

type Listing = {
  readonly out: string;
  readonly copy: Pick<SheetCopy, 'name' | 'folder'>;
  /** Whether the user gets the list (default: yes). */
  readonly listsErrors?: boolean | undefined;
};

/** Where the problems of a sheet are listed: in the folder of the batches, or beside its copy. */
export const errorsPlaceOf = async ({ out, copy, listsErrors = true }: Listing): Promise<ErrorsPlace> =>
  listsErrors
    ? errorsPlaceFor(out, copy.name)
    : { store: openStore(copy.folder), file: 'errors.csv', isPrivate: true };

/** The list of a sheet that was refused before, and is right now. */
export async function dropErrorList(out: string, sheetName: string): Promise<void> {
  const { store, file } = await errorsPlaceFor(out, sheetName);
  if (await store.exists(file)) await store.remove(file);
}

/** `<sheet>-errors.csv`, with a number if another file has that name. */
async function errorsPlaceFor(out: string, sheetName: string): Promise<ErrorsPlace> {
  const store = openStore(out);
  const stem = `${stemOf(sheetName)}-errors`;
  for (let number = 1; ; number += 1) {
    const file = number === 1 ? `${stem}.csv` : `${stem}-${number}.csv`;
    if (!(await store.exists(file)) || (await isErrorList(store, file))) return { store, file };
  }
}

async function isErrorList(store: Store, file: string): Promise<boolean> {
  if (!NAME.test(file)) return false;
  try {
    return (await startOf(store, file, ERRORS_HEADER.length)) === ERRORS_HEADER;
  } catch {
    // An unreadable file is not ours.
    return false;
  }
}
