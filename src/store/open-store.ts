// Opens the Store of a location. This is the only place that chooses between kinds of Stores.

import { assertWritable } from '../host/disk-space.ts';
import { Readable } from 'node:stream';
import type { Store } from './store.ts';
import { isS3Address } from '../host/s3-address.ts';
import { folderStore } from './folder.ts';

/** Opens a store. An `existing` folder that has vanished is not created again. */
export const openStore = (location: string, kind: 'new' | 'existing' = 'new'): Store =>
  isS3Address(location) ? s3Store(location) : folderStore(location, kind);

/** Throws if batches cannot be written there, or cannot be reached. */
export async function checkPlace(out: string): Promise<void> {
  // If the bucket is missing, a list fails; a read finds no file.
  if (isS3Address(out)) await openStore(out).list('.readiness');
  else await assertWritable(out);
}

/** Loads the code for S3 with the first use of a file. */
function s3Store(location: string): Store {
  let loaded: ReturnType<typeof load> | undefined;
  const load = async () => (await import('./s3/bucket-store.ts')).bucketStore(location);
  const files = () => (loaded ??= load());
  return {
    location,
    read: async (name) => (await files()).read(name),
    open: (name) =>
      Readable.from(
        chunksOf(async () => (await files()).open(name)),
        { objectMode: false },
      ),
    exists: async (name) => (await files()).exists(name),
    facts: async (name) => (await files()).facts(name),
    list: async (folder) => (await files()).list(folder),
    folders: async (folder) => (await files()).folders(folder),
    write: async (name, content, as) => (await files()).write(name, content, as),
    create: async (name, content) => (await files()).create(name, content),
    update: async (name, next) => (await files()).update(name, next),
    draft: async (name, of) => (await files()).draft(name, of),
    remove: async (name) => (await files()).remove(name),
    clear: async (folder) => (await files()).clear(folder),
    bring: async (folder, path) => (await files()).bring(folder, path),
    copyFrom: async (source, from, name) => (await files()).copyFrom(source, from, name),
    link: async (name, validMs) => (await files()).link(name, validMs),
  };
}

async function* chunksOf(open: () => Promise<Readable>): AsyncGenerator<Uint8Array> {
  yield* (await open()) as AsyncIterable<Uint8Array>;
}
