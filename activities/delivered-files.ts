// Files that this process has delivered, so that another try of their run, or of its part, does not fetch them again.

import type { FileRecord } from '../src/results/row-record.ts';

const REMEMBERED_MAX = 10_000;

/** Which file of which run it is: its place in the run, and what the service says it is. */
export type FileKey = { readonly place: string; readonly source: string };

export class DeliveredFiles {
  readonly #known = new Map<string, { readonly source: string; readonly record: FileRecord }>();

  /** undefined where it was not delivered, or the place has another file by now: services change their order. */
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
