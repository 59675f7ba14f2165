// duplicates.jsonl, and the evidence that the last reading begins with.

import { readdirSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import type { AttemptRun } from '../../src/batch/outcome.ts';
import { type DuplicateRun, DUPLICATES_FILE, openDuplicates } from '../../src/results/duplicates-file.ts';
import { keptEvidence } from '../../activities/finalize-batch.ts';
import { evidenceName } from '../../src/store/batch-file.ts';
import { folderStore } from '../../src/store/folder.ts';
import type { Store } from '../../src/store/store.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

let folder = '';
let store: Store;
beforeEach(() => {
  folder = freshFolder();
  store = folderStore(folder);
});

const duplicate = (run_id: string): DuplicateRun => ({
  row: 1,
  attempt: 1,
  run_id,
  status: 'success',
  gpu_seconds: 0,
  cost_usd: 0,
});

describe('duplicates.jsonl', () => {
  const written = async (): Promise<readonly string[] | undefined> =>
    (await store.read(DUPLICATES_FILE))?.trim().split('\n');

  it('has a line for each duplicate, and nothing of it is there before all are', async () => {
    const draft = await openDuplicates(store);
    for (const id of ['a', 'b']) await draft.add(duplicate(id));
    expect(await written()).toBeUndefined();
    await draft.commit();
    await draft.discard();
    expect((await written())?.map((line) => JSON.parse(line) as unknown)).toEqual(['a', 'b'].map(duplicate));
  });

  it('is not there without duplicates, nor from a reading that was given up', async () => {
    const none = await openDuplicates(store);
    await none.commit();
    const givenUp = await openDuplicates(store);
    await givenUp.add(duplicate('a'));
    await givenUp.discard();
    expect(await written()).toBeUndefined();
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('the evidence of a batch', () => {
  const run = (runId: string): AttemptRun => ({ place: 1, attempt: 1, runId });
  const lines = (...ids: readonly string[]): string =>
    ids.map((id) => `${JSON.stringify(run(id))}\n`).join('');

  it('is what the workflow still has, and all that it has put into the folder', async () => {
    await store.write(evidenceName(1), lines('b', 'c'));
    await store.write(evidenceName(2), lines('d'));
    const attemptRuns: AttemptRun[] = [];
    for await (const attemptRun of keptEvidence(store, [run('a')])) attemptRuns.push(attemptRun);
    expect(attemptRuns).toEqual(['a', 'b', 'c', 'd'].map(run));
  });

  it('is nothing where nothing was kept', async () => {
    expect(await keptEvidence(store, []).next()).toEqual({ done: true, value: undefined });
  });
});
