// Writes late/<run id>.json for a run that ended after its batch, unless a row or duplicates.jsonl names it already.

import type { RunCompletion } from '../batch/events.ts';
import { fileName } from '../errors/outside-text.ts';
import { nameOf } from '../results/batch-rows.ts';
import { type BatchFile, SUMMARY_FILE } from '../store/batch-file.ts';
import type { Store } from '../store/store.ts';
import { DUPLICATES_FILE } from '../results/duplicates-file.ts';
import { linesOf } from '../store/pieces.ts';
import { recentlyRead, type Parsed } from '../store/recently-read.ts';
import { KnownRuns } from './known-runs.ts';

const FOLDER = 'late';

/** True if the run was not known. */
export async function keepLateRun(
  ended: NamedRuns,
  store: Store,
  file: Pick<BatchFile, 'mark' | 'sheet'>,
  completion: RunCompletion,
): Promise<boolean> {
  const { runId, outcome, reason } = completion;
  const named = await ended.of(store);
  if (named === undefined || named.has(runId)) return false;
  const { row, attempt } = await nameOf(store, file, completion);
  const record = { row, attempt, run_id: runId, outcome, reason };
  return store.create(`${FOLDER}/${fileName(runId)}.json`, `${JSON.stringify(record)}\n`);
}

const MAX_BATCHES = 100;
const MAX_BYTES = 64 << 20;

export class NamedRuns {
  readonly #read = recentlyRead<KnownRuns>(MAX_BATCHES, MAX_BYTES);

  /** undefined if the batch has not ended. */
  async of(store: Store): Promise<KnownRuns | undefined> {
    // `summary.json` is written last. A batch that ends a second time rewrites it.
    const end = await store.facts(SUMMARY_FILE);
    if (end === undefined) return undefined;
    return this.#read(`${store.location} ${end.bytes} ${end.modifiedAt}`, () => readNamed(store));
  }
}

/**
 * Lines of compact JSON, in either file. The pattern is bounded, because an unbounded one fails on a hostile line of
 * many megabytes.
 */
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
