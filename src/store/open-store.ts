// Opens the Store of a location. This is the only place that chooses between kinds of Stores.

import { isS3Address } from '../host/batches-address.ts';
import { folderStore } from './folder.ts';
import { s3Store } from './s3-store.ts';
import type { Store } from './store.ts';

/** An `existing` folder is not created anew if it has vanished. */
export const openStore = (location: string, kind: 'new' | 'existing' = 'new'): Store =>
  isS3Address(location) ? s3Store(location) : folderStore(location, kind);

/** Throws if the place of batches that are not on this machine cannot be reached. */
export async function checkReachable(batches: Store): Promise<void> {
  // If the bucket is missing, a list fails; a read finds no file.
  await batches.list('.readiness');
}
