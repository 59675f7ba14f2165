// Writes and reads late/<run id>.json for a run that ended after its batch, unless a row or duplicates.jsonl names it already.

import type { RunCompletion } from '../batch/events.ts';
import { fileName } from '../errors/outside-text.ts';
import { SUMMARY_FILE, type BatchFile } from '../store/batch-file.ts';
import { linesOf } from '../store/lines.ts';
import type { Store } from '../store/store.ts';
import { DUPLICATES_FILE } from './duplicates.ts';
import { nameOf } from './batch-rows.ts';

const FOLDER = 'late';

export type LateRun = {
  readonly row: number;
  readonly attempt: number;
  readonly run_id: string;
  readonly outcome: string;
  readonly reason?: string;
};

/** True if the run was not known. */
export async function keepLateRun(
  store: Store,
  file: Pick<BatchFile, 'mark' | 'sheet'>,
  completion: RunCompletion,
): Promise<boolean> {
  const { runId, outcome, reason } = completion;
  if (!(await store.exists(SUMMARY_FILE)) || (await isNamed(store, runId))) return false;
  const { row, attempt } = await nameOf(store, file, completion);
  const record: LateRun = {
    row,
    attempt,
    run_id: runId,
    outcome,
    ...(reason === undefined ? {} : { reason }),
  };
  return store.create(`${FOLDER}/${fileName(runId)}.json`, `${JSON.stringify(record)}\n`);
}

/** Both files are lines of compact JSON. */
async function isNamed(store: Store, runId: string): Promise<boolean> {
  const named = `"run_id":${JSON.stringify(runId)}`;
  for (const file of [DUPLICATES_FILE, 'results.jsonl']) {
    if (!(await store.exists(file))) continue;
    for await (const line of linesOf(store, file)) if (line.includes(named)) return true;
  }
  return false;
}

export async function* readLateRuns(store: Store): AsyncGenerator<LateRun> {
  for (const name of await store.list(FOLDER))
    yield JSON.parse((await store.read(`${FOLDER}/${name}`)) ?? '') as LateRun;
}
