// Opens the Store of a location. This is the only place that chooses between kinds of Stores.

import { folderStore } from './folder.ts';
import type { Store } from './store.ts';

/** An `existing` location is not created anew if it has vanished. */
export const openStore = (location: string, kind: 'new' | 'existing' = 'new'): Store =>
  folderStore(location, kind);
