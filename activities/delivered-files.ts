// Remembers the files that this process has downloaded, so that a retry of their run or part does not download them again.

import type { FileRecord } from '../src/results/row-record.ts';

const REMEMBERED_MAX = 10_000;

/** Identifies a file of a run: its place in the run, and a hash of the service's description. */
export type FileKey = { readonly place: string; readonly source: string };

export class DeliveredFiles {
  readonly #known = new Map<string, { readonly source: string; readonly record: FileRecord }>();

  /** undefined if the file was not downloaded, or if the service has since changed the order of the files. */
  find({ place, source }: FileKey): FileRecord | undefined {
    const known = this.#known.get(place);
    return known?.source === source ? known.record : undefined;
  }

  add({ place, source }: FileKey, record: FileRecord): void {
    this.#known.delete(place);
    this.#known.set(place, { source, record });
    const oldest = this.#known.size > REMEMBERED_MAX ? this.#known.keys().next().value : undefined;
    if (oldest !== undefined) this.#known.delete(oldest);
  }
}
