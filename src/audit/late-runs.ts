// Writes late/<run id>.json for a run that ended after its batch, unless a row or duplicates.jsonl names it already.

import type { RunCompletion } from '../batch/events.ts';
import { fileName } from '../errors/outside-text.ts';
import { nameOf } from '../results/batch-rows.ts';
import type { BatchFile } from '../store/batch-file.ts';
import type { Store } from '../store/store.ts';
import type { NamedRuns } from './named-runs.ts';

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
  const record = {
    row,
    attempt,
    run_id: runId,
    outcome,
    ...(reason === undefined ? {} : { reason }),
  };
  return store.create(`${FOLDER}/${fileName(runId)}.json`, `${JSON.stringify(record)}\n`);
}
