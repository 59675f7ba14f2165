// Knows which runs the results of ended batches name. They are read once for each end of a batch, because a service can report
// many runs that end after their batch.

import { DUPLICATES_FILE } from '../results/duplicates.ts';
import { SUMMARY_FILE } from '../store/batch-file.ts';
import { linesOf } from '../store/lines.ts';
import { RecentlyRead, type Parsed } from '../store/recently-read.ts';
import type { Store } from '../store/store.ts';
import { KnownRuns } from './known-runs.ts';

const BATCHES_MOST = 100;
const BYTES_MOST = 64 << 20;

export class NamedRuns {
  readonly #read = new RecentlyRead<KnownRuns>(BATCHES_MOST, BYTES_MOST);

  /** undefined if the batch has not ended. */
  async of(store: Store): Promise<KnownRuns | undefined> {
    // It is written last, and again if the batch ends once more.
    const end = await store.facts(SUMMARY_FILE);
    if (end === undefined) return undefined;
    return this.#read.get(`${store.location} ${end.bytes} ${end.modifiedAt}`, () => readNamed(store));
  }
}

/** Both files are lines of compact JSON. A pattern without a bound fails on a hostile line of many megabytes. */
const RUN_ID = /"run_id":"([^"\\]{1,200})"/g;

async function readNamed(store: Store): Promise<Parsed<KnownRuns>> {
  const named = new KnownRuns();
  for (const file of [DUPLICATES_FILE, 'results.jsonl']) {
    if (!(await store.exists(file))) continue;
    for await (const line of linesOf(store, file))
      for (const [, runId = ''] of line.matchAll(RUN_ID)) named.add(runId);
  }
  return { value: named, bytes: named.bytes };
}
