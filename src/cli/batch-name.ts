// Which batch a command means, by the folders alone.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { nearest, problem } from '../errors.ts';
import { BATCH_FILE, readBatchFile, type BatchFile } from '../store/batch-file.ts';
import { folderStore } from '../store/folder.ts';
import type { Store } from '../store/store.ts';

export type FoundBatch = {
  readonly batch: string;
  readonly folder: string;
  readonly file: BatchFile;
  readonly store: Store;
};

/** All batches of a place, newest first. */
export async function allBatches(out: string): Promise<readonly FoundBatch[]> {
  const names = existsSync(out)
    ? readdirSync(out).filter((name) => !name.startsWith('.') && existsSync(join(out, name, BATCH_FILE)))
    : [];
  // One that this version cannot read is no reason to hide the others; asked for by its name it says why.
  const found = await Promise.all(names.map((name) => openBatch(out, name).catch(() => undefined)));
  return found
    .filter((one) => one !== undefined)
    .sort((a, b) => b.file.createdAt.localeCompare(a.file.createdAt));
}

/** The batch of that name, or of which the name is the beginning; the newest where none is given. Throws E502. */
export async function findBatch(out: string, name: string | undefined): Promise<FoundBatch> {
  const exact = name === undefined ? undefined : await openBatch(out, name);
  if (exact !== undefined) return exact;
  const all = await allBatches(out);
  const matching = name === undefined ? all.slice(0, 1) : all.filter(({ batch }) => batch.startsWith(name));
  const [only] = matching;
  if (only !== undefined && matching.length === 1) return only;
  const known = (matching.length > 1 ? matching : all).map(({ batch }) => batch);
  throw problem('E502', { batch: name, out, known: known.slice(0, 10), near: nearest(name ?? '', known) });
}

async function openBatch(out: string, batch: string): Promise<FoundBatch | undefined> {
  const folder = join(out, batch);
  const store = folderStore(folder);
  const file = existsSync(folder) ? await readBatchFile(store) : undefined;
  return file && { batch, folder, file, store };
}
