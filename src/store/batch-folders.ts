// Finds batches: the folders in RUNSHEET_OUT that contain a batch.json.

import { join, sep } from 'node:path';
import pMap from 'p-map';
import { isRunsheetError } from '../errors/error.ts';
import { isS3Address } from '../host/s3-address.ts';
import { readBatchFile, type BatchFile } from './batch-file.ts';
import { openStore } from './open-store.ts';
import { isOfOneObject, type Store } from './store.ts';

export type BatchFolder = {
  readonly batch: string;
  /** The location of the batch: an absolute path or an s3:// address. */
  readonly folder: string;
  readonly file: BatchFile;
  readonly store: Store;
};

/** The location of a batch in `out`, or of any other file there. */
export const locationOf = (out: string, batch: string): string =>
  isS3Address(out) ? `${out}/${batch}` : join(out, batch);

/** Splits a location into the folder of all batches and the name of the batch. */
export function splitLocation(location: string): { readonly out: string; readonly batch: string } {
  const at = location.lastIndexOf(isS3Address(location) ? '/' : sep);
  return { out: location.slice(0, at) || sep, batch: location.slice(at + 1) };
}

/** undefined if there is no such batch. Throws the error of an invalid batch.json. */
export async function openBatchFolder(out: string, batch: string): Promise<BatchFolder | undefined> {
  // A path cannot name a batch in a bucket.
  if (isS3Address(out) && !isBatchName(batch)) return undefined;
  const folder = locationOf(out, batch);
  const store = openStore(folder);
  const file = await readBatchFile(store);
  return file && { batch, folder, file, store };
}

/** Whether a batch can have this name: one folder, not a path. */
export const isBatchName = (name: string): boolean => !name.includes('/') && !['', '.', '..'].includes(name);

/**
 * Lists the batches, newest first. Batches whose batch.json cannot be read are missing: `leftOut` is called with each of
 * them.
 */
export const listBatchFolders = (
  out: string,
  leftOut: (batch: string, error: unknown) => unknown = () => undefined,
): Promise<readonly BatchFolder[]> =>
  listFolders(out, openBatchFolder, (name, error) => {
    // If S3 does not answer, its batches are unknown, and without them the same sheet would become a second batch.
    if (hidesAllBatches(error)) throw error;
    leftOut(name, error);
  });

/**
 * The results of `open` for the folders of `out`, newest first; `failed` is called with each folder that cannot be
 * opened.
 */
export async function listFolders<F extends { readonly file: { readonly createdAt: string } }>(
  out: string,
  open: (out: string, name: string) => Promise<F | undefined>,
  failed: (name: string, error: unknown) => void,
): Promise<readonly F[]> {
  const opened = (name: string) => open(out, name).catch((error: unknown) => failed(name, error));
  const folders = await pMap(await openStore(out).folders(''), opened, { concurrency: CONCURRENCY });
  return folders
    .filter((folder) => folder !== undefined)
    .sort((a, b) => b.file.createdAt.localeCompare(a.file.createdAt));
}

const CONCURRENCY = 32;

/** Whether every other batch would fail with the same error, because the store does not answer. */
export const hidesAllBatches = (error: unknown): boolean =>
  isRunsheetError(error, 'E612') && !isOfOneObject(error);
