// The log and the evidence of a batch, read back from a real folder.

import { beforeEach, describe, expect, it } from 'vitest';
import type { BatchEvent } from '../../src/batch/events.ts';
import { openDuplicates, readDuplicates } from '../../src/results/duplicates-file.ts';
import { readEvents, writeEvents } from '../../src/results/all-events.ts';
import { folderStore } from '../../src/store/folder.ts';
import type { Store } from '../../src/store/store.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const collected = async <T>(items: AsyncIterable<T>): Promise<readonly T[]> => {
  const read: T[] = [];
  for await (const item of items) read.push(item);
  return read;
};

describe('text with the line separator of Unicode', () => {
  let folder = '';
  let store: Store;
  beforeEach(() => {
    folder = freshFolder();
    store = folderStore(folder);
  });

  it('stands in the reason of a command, and the log can be read', async () => {
    const event = { at: 1, event: 'paused', reason: 'dinner\u2028is ready' } as unknown as BatchEvent;
    await writeEvents(store, 1, [event]);
    expect(await collected(readEvents(store))).toEqual([event]);
  });

  it('stands in the status of a duplicate run, and the duplicates can be read', async () => {
    const run = { row: 1, attempt: 1, run_id: 'a', status: 'suc\u2028cess', gpu_seconds: 1, cost_usd: 1 };
    const draft = await openDuplicates(store);
    await draft.add(run);
    await draft.commit();
    expect(await collected(readDuplicates(store))).toEqual([run]);
  });
});
