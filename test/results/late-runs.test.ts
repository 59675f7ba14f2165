// Runs that end after their batch, reported by as many workers as there are.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keepLateRun } from '../../src/results/late-runs.ts';
import { folderStore } from '../../src/store/folder.ts';
import type { BatchFile } from '../../src/store/batch-file.ts';
import type { Store } from '../../src/store/store.ts';

const FILE: Pick<BatchFile, 'mark' | 'sheet'> = {
  mark: '0123456789abcdef',
  sheet: { rows: 5 } as BatchFile['sheet'],
};
const end = (runId: string) => ({ place: 3, attempt: 1, runId, outcome: 'succeeded' }) as const;

describe('a run that ends after its batch', () => {
  let folder: string;
  let store: Store;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'runsheet-late-'));
    store = folderStore(folder);
    await store.write('results.jsonl', '{"row":3,"key":"late","attempts":[{"run_id":"named"}]}\n');
    await store.write('duplicates.jsonl', '{"row":3,"attempt":1,"run_id":"duplicate"}\n');
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const finish = () => store.write('summary.json', '{"batch":"b"}');
  const kept = () => store.list('late');

  it('is kept once, in a file of its own', async () => {
    await finish();
    expect([await keepLateRun(store, FILE, end('r1')), await keepLateRun(store, FILE, end('r2'))]).toEqual([
      true,
      true,
    ]);
    expect(await keepLateRun(store, FILE, end('r1'))).toBe(false);
    expect(await kept()).toEqual(['r1.json', 'r2.json']);
    expect(JSON.parse((await store.read('late/r1.json')) ?? '')).toEqual({
      row: 3,
      attempt: 1,
      run_id: 'r1',
      outcome: 'succeeded',
    });
  });

  it('is not kept if a row or a duplicate names it, or while the batch goes on', async () => {
    expect(await keepLateRun(store, FILE, end('r1'))).toBe(false);
    await finish();
    for (const runId of ['named', 'duplicate'])
      expect(await keepLateRun(store, FILE, end(runId))).toBe(false);
    expect(await kept()).toEqual([]);
  });

  it('is kept although another run whose id begins with its id is named, or a cell holds its id', async () => {
    await finish();
    for (const runId of ['name', 'late']) expect(await keepLateRun(store, FILE, end(runId))).toBe(true);
  });

  it('is news for one of the workers that report it at the same moment', async () => {
    await finish();
    const runs = 100;
    const news = await Promise.all([0, 1, 2].map(() => newsOfWorker(folder, runs)));
    expect(news.flat().toSorted((a, b) => a - b)).toEqual(Array.from({ length: runs }, (_, run) => run));
    expect(await kept()).toHaveLength(runs);
  });
});

/** A process that reports runs 0, 1, …, and tells which of them were news. */
async function newsOfWorker(folder: string, runs: number): Promise<readonly number[]> {
  const script = `
    const [{ keepLateRun }, { folderStore }] = await Promise.all([
      import(${JSON.stringify(source('results/late-runs.ts'))}),
      import(${JSON.stringify(source('store/folder.ts'))}),
    ]);
    const store = folderStore(${JSON.stringify(folder)});
    const news = [];
    for (let run = 0; run < ${runs}; run += 1)
      if (await keepLateRun(store, { mark: '0123456789abcdef', sheet: { rows: 5 } }, { place: 3, attempt: 1, runId: 'run-' + run, outcome: 'failed' })) news.push(run);
    console.log(JSON.stringify(news));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'pipe' });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  await once(child, 'close');
  return JSON.parse(printed) as readonly number[];
}

const source = (name: string): string => new URL(`../../src/${name}`, import.meta.url).href;
