import { accessSync, createReadStream, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { access, link, open, readFile, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { dropResumable, openResumable } from './resumable.ts';
import type { Draft, Store } from './store.ts';

/**
 * The batch folder at `path`; folders inside it are made as files arrive. Where it is an `existing` one that has vanished,
 * perhaps with the disk under it, writing fails with ENOENT: it would be made anew on another disk.
 */
export function folderStore(path: string, kind: 'new' | 'existing' = 'new'): Store {
  const root = resolve(path);
  const makeFolder = (folder: string): void => {
    if (kind === 'existing') accessSync(root);
    mkdirSync(folder, { recursive: true });
  };
  const within = (name: string): string => {
    const full = resolve(root, name);
    if (!full.startsWith(root + sep)) throw new Error(`${name} lies outside the batch folder ${root}`);
    return full;
  };
  return {
    location: root,
    read: (name) => readFile(within(name), 'utf8').catch(undefinedIfAbsent),
    open: (name) => createReadStream(within(name), { highWaterMark: 1 << 18 }),
    exists: (name) =>
      access(within(name)).then(
        () => true,
        () => false,
      ),
    list: async (folder) => {
      const entries = (await readdir(within(folder), { withFileTypes: true }).catch(undefinedIfAbsent)) ?? [];
      return entries
        .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
        .map((entry) => entry.name)
        .sort();
    },
    write: async (name, content, as = 'synced') => {
      if (as === 'cached') return writeCached(within(name), content, makeFolder);
      await writeWhole(within(name), content, rename, makeFolder);
    },
    create: (name, content) => writeWhole(within(name), content, linkOnce, makeFolder),
    draft: (name) => openDraft(within(name), rename, makeFolder),
    resumable: (name, as) => {
      makeFolder(dirname(within(name)));
      return openResumable(within(name), as);
    },
    dropResumable: (folder, ids) => dropResumable(within(folder), ids),
  };
}

let drafts = 0;

/** A file that was being written when its process was killed has such a name. */
export const isDraftName = (name: string): boolean => /^\.\d+-\d+\.part$/.test(name);

/** A name that nobody else writes, in the same folder, hidden from listings. */
const besideOf = (path: string): string => join(dirname(path), `.${process.pid}-${++drafts}.part`);

/** Puts the file `beside` into its place. */
type Place = (beside: string, path: string) => Promise<unknown>;
type MakeFolder = (folder: string) => void;

/** A link is there whole or not at all, and fails where the name is taken; false then. */
async function linkOnce(beside: string, path: string): Promise<boolean> {
  try {
    await link(beside, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(beside, { force: true });
  }
}

/** True unless the place was taken. */
async function writeWhole(
  path: string,
  content: string | Uint8Array,
  place: Place,
  makeFolder: MakeFolder,
): Promise<boolean> {
  let isPlaced: unknown;
  const draft = await openDraft(path, async (...paths) => (isPlaced = await place(...paths)), makeFolder);
  try {
    await draft.write(content);
    await draft.commit();
    return isPlaced !== false;
  } finally {
    await draft.discard();
  }
}

/** Writes beside the final name, syncs, then puts it in place: a reader sees the old file, the new one or none, never a part. */
async function openDraft(path: string, place: Place, makeFolder: MakeFolder): Promise<Draft> {
  makeFolder(dirname(path));
  const beside = besideOf(path);
  const file = await open(beside, 'wx');
  let finished = false;
  return {
    write: async (content) => {
      await file.writeFile(content);
    },
    commit: async () => {
      await file.sync();
      await file.close();
      await place(beside, path);
      finished = true;
    },
    discard: async () => {
      if (finished) return;
      finished = true;
      await file.close().catch(undefinedIfClosed);
      await rm(beside, { force: true });
    },
  };
}

/** A small file in three calls on the spot: handing each to another thread and back costs twice the work itself. */
function writeCached(path: string, content: string | Uint8Array, makeFolder: MakeFolder): void {
  const beside = besideOf(path);
  try {
    writeFileSync(beside, content, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    makeFolder(dirname(path));
    writeFileSync(beside, content, { flag: 'wx' });
  }
  renameSync(beside, path);
}

function undefinedIfAbsent(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
  throw error;
}

function undefinedIfClosed(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === 'EBADF') return undefined;
  throw error;
}
