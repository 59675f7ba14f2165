// Finds batches: the folders in RUNSHEET_OUT that contain a batch.json.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { BATCH_FILE, readBatchFile, type BatchFile } from './batch-file.ts';
import { openStore } from './open-store.ts';
import type { Store } from './store.ts';

export type BatchFolder = {
  readonly batch: string;
  readonly folder: string;
  readonly file: BatchFile;
  readonly store: Store;
};

/** undefined if there is no such batch. Throws the error of an invalid batch.json. */
export async function openBatchFolder(out: string, batch: string): Promise<BatchFolder | undefined> {
  const folder = join(out, batch);
  const store = openStore(folder);
  const file = existsSync(folder) ? await readBatchFile(store) : undefined;
  return file && { batch, folder, file, store };
}

/** All batches, newest first, without those that this version cannot read. */
export async function listBatchFolders(out: string): Promise<readonly BatchFolder[]> {
  const names = existsSync(out)
    ? readdirSync(out).filter((name) => !name.startsWith('.') && existsSync(join(out, name, BATCH_FILE)))
    : [];
  const found = await Promise.all(names.map((name) => openBatchFolder(out, name).catch(() => undefined)));
  return found
    .filter((one) => one !== undefined)
    .sort((a, b) => b.file.createdAt.localeCompare(a.file.createdAt));
}
