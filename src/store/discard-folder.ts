// Removes folders with very many files: a folder disappears immediately under a hidden name of its own, and its files are deleted
// afterwards, which takes a disk minutes for a million of them. A command that cannot wait so long leaves the rest to a process
// of its own, which gets only hidden names: the old name may belong to a new batch by then.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rename } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pMap from 'p-map';
import { errorMessage } from '../errors/error.ts';
import { environmentFor } from '../host/child-environment.ts';
import { deleteFolder } from './delete-folder.ts';

const PREFIX = '.removed-';
const HIDDEN = /^\.removed-.+-[0-9a-f]{8}$/;
const LIMIT = { concurrency: 4 };

/** Folders whose deletion has begun. */
export const isDiscarded = (name: string): boolean => HIDDEN.test(name);

/** Resolves when the files are deleted too. */
export async function discardFolder(path: string): Promise<void> {
  const hidden = await hide(path);
  if (hidden !== undefined) await deleteFolder(hidden);
}

export type NotRemoved = { readonly path: string; readonly reason: string };

export type Discarded = {
  /** False if a process of its own still deletes the files; the folders are gone in either case. */
  readonly isOver: boolean;
  /** Known so far; `clean` finds the rest again. */
  readonly failed: readonly NotRemoved[];
};

export type Patience = {
  readonly patienceMs: number;
  /** Of this process; the other one gets no secret of it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** Waits for `patienceMs` at most. A folder that cannot be removed stops no other. */
export async function discardFolders(
  paths: readonly string[],
  { patienceMs, environment }: Patience,
): Promise<Discarded> {
  const failed: NotRemoved[] = [];
  const left = new Set<string>();
  const trying = async <T>(path: string, work: Promise<T>): Promise<T | undefined> =>
    work.catch((error: unknown) => void failed.push({ path, reason: errorMessage(error) }));
  const hidden = await pMap(paths, async (path) => [path, await trying(path, hide(path))] as const, LIMIT);
  const toDelete = hidden.flatMap(([path, at]) => (at === undefined ? [] : [{ path, at }]));
  for (const { at } of toDelete) left.add(at);
  const work = pMap(
    toDelete,
    async ({ path, at }) => {
      await trying(path, deleteFolder(at));
      left.delete(at);
    },
    LIMIT,
  ).then(() => true);
  let isOver = await Promise.race([work, wait(patienceMs, false, { ref: false })]);
  if (!isOver && !(await deletesElsewhere([...left], environment))) isOver = await work;
  return { isOver, failed: [...failed] };
}

/** The hidden name; undefined if there is no such folder. A folder that cannot be renamed, such as a mounted disk, is emptied here. */
async function hide(path: string): Promise<string | undefined> {
  if (isDiscarded(basename(path))) return path;
  const hidden = join(dirname(path), `${PREFIX}${basename(path)}-${randomBytes(4).toString('hex')}`);
  try {
    await rename(path, hidden);
    return hidden;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') await deleteFolder(path);
    return undefined;
  }
}

/** False if no process can be started, for example because the names are too long for its arguments. */
async function deletesElsewhere(hidden: readonly string[], environment: Patience['environment']) {
  const env = environmentFor('tool', environment);
  try {
    const child = spawn(process.execPath, [PROGRAM, ...hidden], { detached: true, stdio: 'ignore', env });
    child.unref();
    await once(child, 'spawn');
    return true;
  } catch {
    return false;
  }
}

const PROGRAM = fileURLToPath(new URL(`delete-folders-process${extname(import.meta.url)}`, import.meta.url));
