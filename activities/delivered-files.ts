// Remembers the files that this process has downloaded, so that a retry of their run or part does not download them again.

import QuickLRU from 'quick-lru';
import type { FileRecord } from '../src/results/row-record.ts';

/** So many are kept at least, and at most twice as many. */
const REMEMBERED_LEAST = 10_000;

/** Identifies a file of a run: its place in the run, and a hash of the service's description. */
export type FileKey = { readonly place: string; readonly source: string };

export class DeliveredFiles {
  readonly #known = new QuickLRU<string, { readonly source: string; readonly record: FileRecord }>({
    maxSize: REMEMBERED_LEAST,
  });

  /** undefined if the file was not downloaded, or if the service has since changed the order of the files. */
  find({ place, source }: FileKey): FileRecord | undefined {
    const known = this.#known.get(place);
    return known?.source === source ? known.record : undefined;
  }

  add({ place, source }: FileKey, record: FileRecord): void {
    this.#known.set(place, { source, record });
  }
}
