import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noteLate } from '../../src/results/late.ts';
import { folderStore } from '../../src/store/folder.ts';
import type { Store } from '../../src/store/store.ts';

const end = (runId: string) => ({ row: 3, attempt: 1, runId, outcome: 'succeeded' }) as const;

describe('a run that ends after its batch', () => {
  let folder: string;
  let store: Store;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'runsheet-late-'));
    store = folderStore(folder);
    await store.write('results.jsonl', '{"row":3,"attempts":[{"run_id":"named"}]}\n');
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const finish = () => store.write('summary.json', JSON.stringify({ strays: [{ run_id: 'stray' }] }));

  it('is noted once, beside those that were noted before', async () => {
    await finish();
    expect([await noteLate(store, end('r1')), await noteLate(store, end('r2'))]).toEqual([true, true]);
    expect(await noteLate(store, end('r1'))).toBe(false);
    const lines = (await store.read('late.jsonl'))
      ?.trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(lines).toEqual(
      ['r1', 'r2'].map((run_id) => ({ row: 3, attempt: 1, run_id, outcome: 'succeeded' })),
    );
  });

  it('is no news where the results or the summary name it, or while the batch goes on', async () => {
    expect(await noteLate(store, end('r1'))).toBe(false);
    await finish();
    expect([await noteLate(store, end('named')), await noteLate(store, end('stray'))]).toEqual([
      false,
      false,
    ]);
    expect(await store.read('late.jsonl')).toBeUndefined();
  });
});
