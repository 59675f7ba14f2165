import { randomBytes } from 'node:crypto';
import { accessSync, mkdirSync, realpathSync, statSync, type Dirent } from 'node:fs';
import { open, readdir, rename, rm, stat, access, link, realpath } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { callSignal, throwIfCallAborted } from '../host/call-signal.ts';
import { definedOnly } from '../options/defined-only.ts';
import { undefinedIfAbsent, type Draft, type Store, replacedMeanwhile } from './store.ts';
import { discardFolder } from './discard-folder.ts';
import { writeOnThread } from './file-writer.ts';
import { openPlain, readPlain } from './plain-files.ts';

/**
 * The batch folder at `path`; subfolders are created with their first file. If an `existing` folder has vanished,
 * perhaps because its disk was unmounted, writing fails with ENOENT instead of creating the folder on another disk.
 */
export function folderStore(path: string, kind: 'new' | 'existing' = 'new'): Store {
  const root = resolve(path);
  const makeFolder = (folder: string): void => {
    if (kind === 'existing') accessSync(root);
    mkdirSync(folder, { recursive: true });
  };
  const folderOf = (name: string): string => (name === '' ? root : within(name));
  const within = (name: string): string => {
    const full = resolve(root, name);
    if (!full.startsWith(root + sep)) throw new Error(`${name} lies outside the batch folder ${root}`);
    return full;
  };
  /** Files of a run are shown, exported and sent on, so a link that leads out of the folder counts as no file. */
  const readable = (name: string): string => {
    const full = within(name);
    return name.startsWith('outputs/') && leadsOut(full, root) ? join(root, '.outside') : full;
  };
  return {
    location: root,
    read: async (name) => readPlain(readable(name), inCall()).catch(undefinedIfAbsent),
    open: (name) => openPlain(readable(name), inCall()),
    exists: (name) =>
      access(readable(name)).then(
        () => true,
        () => false,
      ),
    facts: async (name) => {
      const stats = await stat(readable(name)).catch(undefinedIfAbsent);
      return stats?.isFile() ? { bytes: stats.size, modifiedAt: stats.mtimeMs } : undefined;
    },
    list: (folder) => namesIn(folderOf(folder), (entry) => entry.isFile()),
    folders: (folder) =>
      namesIn(folderOf(folder), (entry, at) => entry.isDirectory() || isLinkToFolder(entry, at)),
    write: async (name, content, as = 'synced') => {
      if (as === 'cached') return writeCached(within(name), content, makeFolder);
      await writeWhole(within(name), content, rename, makeFolder);
    },
    create: (name, content) => writeWhole(within(name), content, linkOnce, makeFolder),
    update: async (name, next) => {
      for (;;) {
        const place = unlessReplaced(within(name));
        const content = await next(await readPlain(within(name)).catch(undefinedIfAbsent));
        if (content === undefined || (await writeWhole(within(name), content, place, makeFolder))) return;
      }
    },
    draft: (name, of) => {
      const place = of === 'view' ? orRefused(unlessReplaced(within(name))) : rename;
      return openDraft(within(name), place, makeFolder);
    },
    remove: (name) => rm(within(name), { force: true }),
    clear: async (folder) => {
      if (folder === '' || (await liesWithin(within(folder), root))) await discardFolder(folderOf(folder));
    },
    bring: async (folder, from) => {
      const to = within(folder);
      makeFolder(dirname(to));
      await rename(from, to);
      return to;
    },
    localPath: (name) => folderOf(name),
  };
}

/** Aborts reading at the end of the call. */
const inCall = () => definedOnly({ signal: callSignal() });

/** False if there is no such folder. Throws if a link leads out of `root`, so that no other program's files are deleted. */
async function liesWithin(path: string, root: string): Promise<boolean> {
  const parent = await realpath(dirname(path)).catch(undefinedIfAbsent);
  if (parent === undefined) return false;
  const own = await realpath(root);
  if (parent === own || parent.startsWith(own + sep)) return true;
  throw new Error(`${path} lies outside the batch folder ${root}: it is behind a link to ${parent}`);
}

function leadsOut(path: string, root: string): boolean {
  try {
    return !realpathSync(path).startsWith(realpathSync(root) + sep);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** The visible entries of a folder that `is` chooses, sorted; none if there is no such folder. */
async function namesIn(folder: string, is: (entry: Dirent, path: string) => boolean) {
  const entries = (await readdir(folder, { withFileTypes: true }).catch(undefinedIfAbsent)) ?? [];
  return entries
    .filter((entry) => !entry.name.startsWith('.') && is(entry, join(folder, entry.name)))
    .map((entry) => entry.name)
    .sort();
}

const isLinkToFolder = (entry: Dirent, path: string): boolean =>
  entry.isSymbolicLink() && (statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false);

/** Process ids repeat: every container has a process 1, and several may share a folder. */
const PROCESS = randomBytes(6).toString('hex');
let drafts = 0;

/** Whether the name is that of an unfinished file, which remains if its process is killed. */
export const isDraftName = (name: string): boolean => /^\.[0-9a-f]{12}-\d+\.part$/.test(name);

/** A unique hidden name in the same folder. */
const besideOf = (path: string): string => join(dirname(path), `.${PROCESS}-${++drafts}.part`);

/** Moves the file `beside` to its final name. */
type Placement = (beside: string, path: string) => Promise<unknown>;
type MakeFolder = (folder: string) => void;

/** Creates the final name atomically with a link; false if the name is taken. */
async function linkOnce(beside: string, path: string): Promise<boolean> {
  try {
    await link(beside, path);
    return true;
  } catch (error) {
    // NFS repeats a link whose answer was lost, and the second attempt finds the first.
    if (await isSameFile(beside, path)) return true;
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(beside, { force: true });
  }
}

async function isSameFile(...paths: readonly [string, string]): Promise<boolean> {
  const [first, second] = await Promise.all(
    paths.map((path) => stat(path, { bigint: true }).catch(() => undefined)),
  );
  return first !== undefined && first.ino === second?.ino && first.dev === second.dev;
}

/** Renames unless the file was replaced since this call; false if it was. */
function unlessReplaced(path: string): Placement {
  const before = versionOf(path);
  return (beside) =>
    inTurn(path, async () => {
      const isReplaced = versionOf(path) !== before;
      await (isReplaced ? rm(beside, { force: true }) : rename(beside, path));
      return !isReplaced;
    });
}

const turns = new Map<string, Promise<unknown>>();

/** Runs work on a file in turn, so that nothing in this process comes between the check of a file and its replacement. */
async function inTurn<T>(path: string, work: () => Promise<T>): Promise<T> {
  const turn = (turns.get(path) ?? Promise.resolve()).then(work);
  const settled = turn.catch(() => undefined);
  turns.set(path, settled);
  await settled;
  if (turns.get(path) === settled) turns.delete(path);
  return turn;
}

const versionOf = (path: string): string => {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stats === undefined ? '' : `${stats.ino} ${stats.mtimeNs} ${stats.size}`;
};

const orRefused =
  (place: Placement): Placement =>
  async (beside, path) => {
    if ((await place(beside, path)) === false) throw replacedMeanwhile(path);
  };

/** False if the name was taken. */
async function writeWhole(
  path: string,
  content: string | Uint8Array,
  place: Placement,
  makeFolder: MakeFolder,
) {
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

/** Writes to a temporary name, syncs, then renames: a reader sees the old file, the new one or none, never a part. */
async function openDraft(path: string, place: Placement, makeFolder: MakeFolder): Promise<Draft> {
  makeFolder(dirname(path));
  const beside = besideOf(path);
  const file = await open(beside, 'wx');
  let finished = false;
  return {
    write: async (content) => {
      throwIfCallAborted();
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

/** Writes a small file on another thread, without waiting for the disk. */
async function writeCached(path: string, content: string | Uint8Array, makeFolder: MakeFolder) {
  throwIfCallAborted();
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const file = { beside: besideOf(path), path, content: bytes };
  try {
    await writeOnThread(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    makeFolder(dirname(path));
    await writeOnThread(file);
  }
}

function undefinedIfClosed(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === 'EBADF') return undefined;
  throw error;
}
