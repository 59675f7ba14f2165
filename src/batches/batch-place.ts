// The place of a new batch: its free name, and what is undone there unless the batch is made.

import { existsSync } from 'node:fs';
import { rename, rmdir } from 'node:fs/promises';
import { problem } from '../errors/error.ts';
import { LAYOUT, readBatchFile } from '../store/batch-file.ts';
import type { BatchFolder } from '../store/batch-folders.ts';
import { openStore } from '../store/open-store.ts';
import { undefinedIfAbsent, type Store } from '../store/store.ts';
import { isFree } from './stale-folders.ts';

/**
 * The batch that has this name, unless `again`. Throws E504 and E514 if it cannot be read, and E602 for a folder whose content is not a
 * batch or unfinished layouts.
 */
export async function batchIn(
  place: Omit<BatchFolder, 'file'>,
  again: boolean,
): Promise<BatchFolder | undefined> {
  const { store, folder } = place;
  // Keep this order: another command may make the batch meanwhile.
  const isUnused = await isFree(store);
  const file = await readBatchFile(store);
  if (file !== undefined) return again ? undefined : { ...place, file };
  if (isUnused) return undefined;
  throw problem('E602', {
    what: `${folder} exists already and is not a batch`,
    hint: 'choose another --name or another --out',
  });
}

/** The layout is where it was laid out; nothing of the batch remains. */
export async function takeBack(store: Store, layout: string, folder: string): Promise<void> {
  const { localPath } = store;
  // A layout that stays in an unreachable bucket is small, and no batch.
  if (localPath === undefined) return store.clear(layout).catch(() => undefined);
  await rename(localPath(layout), folder).catch(undefinedIfAbsent);
  // A concurrent command may be about to make a batch of this name.
  for (const left of [LAYOUT, '']) await rmdir(localPath(left)).catch(() => undefined);
}

/** The names that the batch may have; the first free one is taken. */
export async function* namesFor(
  out: string,
  batch: string,
  again: boolean,
): AsyncGenerator<string, undefined> {
  if (!again) return void (yield batch);
  const store = openStore(out);
  const { localPath } = store;
  const takenNames = new Set(localPath === undefined ? await store.folders('') : []);
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? batch : `${batch}-${number}`;
    if (!takenNames.has(name) && !(localPath && existsSync(localPath(name)))) yield name;
  }
}
