// Runs that end after their batch, reported by as many workers as there are.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import { keepLateRun, NamedRuns } from '../../src/audit/late-runs.ts';
import { folderStore } from '../../src/store/folder.ts';
import type { BatchFile } from '../../src/store/batch-file.ts';
import type { Store } from '../../src/store/store.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const FILE: Pick<BatchFile, 'mark' | 'sheet'> = {
  mark: '0123456789abcdef',
  sheet: { rows: 5 } as BatchFile['sheet'],
};
const end = (runId: string) => ({ place: 3, attempt: 1, runId, outcome: 'succeeded' }) as const;

describe('a run that ends after its batch', () => {
  let folder: string;
  let store: Store;
  let named: NamedRuns;
  beforeEach(async () => {
    folder = freshFolder();
    store = folderStore(folder);
    named = new NamedRuns();
    await store.write('results.jsonl', '{"row":3,"key":"late","attempts":[{"run_id":"named"}]}\n');
    await store.write('duplicates.jsonl', '{"row":3,"attempt":1,"run_id":"duplicate"}\n');
  });
  const finish = (workers = 1) => store.write('summary.json', `{"batch":"b","workers":${workers}}`);
  const keep = (runId: string, from = store) => keepLateRun(named, from, FILE, end(runId));
  const kept = () => store.list('late');

  it('is kept once, in a file of its own', async () => {
    await finish();
    expect([await keep('r1'), await keep('r2'), await keep('r1')]).toEqual([true, true, false]);
    expect(await kept()).toEqual(['r1.json', 'r2.json']);
    expect(JSON.parse((await store.read('late/r1.json')) ?? '')).toEqual({
      row: 3,
      attempt: 1,
      run_id: 'r1',
      outcome: 'succeeded',
    });
  });

  it('is not kept if a row or a duplicate names it, or while the batch goes on', async () => {
    expect(await keep('r1')).toBe(false);
    await finish();
    for (const runId of ['named', 'duplicate']) expect(await keep(runId)).toBe(false);
    expect(await kept()).toEqual([]);
  });

  it('is kept although another run whose id begins with its id is named, or a cell holds its id', async () => {
    await finish();
    for (const runId of ['name', 'late']) expect(await keep(runId)).toBe(true);
  });

  it('is looked up although a line names a run of many megabytes', async () => {
    await finish();
    const hostile = `{"row":1,"attempts":[{"run_id":"${'a'.repeat(20 << 20)}`;
    const strangeRow = '{"row":3,"attempts":[{"run_id":"r1"}]}';
    await store.write('results.jsonl', `${hostile}\n${strangeRow}\n`);
    expect([await keep('r1'), await keep('r2')]).toEqual([false, true]);
  });

  it('does not read the results again, unless the batch has ended once more', async () => {
    await finish();
    const opened: string[] = [];
    const open: Store['open'] = (name) => {
      opened.push(name);
      return store.open(name);
    };
    const counted = { ...store, open };
    const FILES = ['duplicates.jsonl', 'results.jsonl'];
    await Promise.all(['r1', 'r2', 'named'].map((runId) => keep(runId, counted)));
    await keep('r3', counted);
    expect(opened).toEqual(FILES);
    await store.write('results.jsonl', '{"row":3,"attempts":[{"run_id":"named"},{"run_id":"r4"}]}\n');
    await finish(22);
    expect([await keep('r4', counted), await keep('r5', counted)]).toEqual([false, true]);
    expect(opened).toEqual([...FILES, ...FILES]);
  });

  it('is looked up again after results that could not be read', async () => {
    await finish();
    const open = (): never => {
      throw new Error('the disk is away');
    };
    await expect(keep('r1', { ...store, open })).rejects.toThrow('the disk is away');
    expect([await keep('named'), await keep('r1')]).toEqual([false, true]);
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
    const [{ keepLateRun }, { NamedRuns }, { folderStore }] = await Promise.all([
      import(${JSON.stringify(source('audit/late-runs.ts'))}),
      import(${JSON.stringify(source('audit/late-runs.ts'))}),
      import(${JSON.stringify(source('store/folder.ts'))}),
    ]);
    const store = folderStore(${JSON.stringify(folder)});
    const named = new NamedRuns();
    const news = [];
    for (let run = 0; run < ${runs}; run += 1)
      if (await keepLateRun(named, store, { mark: '0123456789abcdef', sheet: { rows: 5 } }, { place: 3, attempt: 1, runId: 'run-' + run, outcome: 'failed' })) news.push(run);
    console.log(JSON.stringify(news));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'pipe' });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  await once(child, 'close');
  return JSON.parse(printed) as readonly number[];
}

const source = (name: string): string => new URL(`../../src/${name}`, import.meta.url).href;
