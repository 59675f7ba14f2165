// A sheet in a real folder, its parts in the order of their ends, and the files that a batch leaves.

import { parse } from 'csv-parse/sync';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { begin } from '../../src/batch/state/state.ts';
import { progress } from '../../src/batch/shown/progress.ts';
import { WRITES } from '../../src/batch/behaviour-version.ts';
import { partName } from '../../src/results/parts.ts';
import type { PartRecord, RowRecord } from '../../src/results/row-record.ts';
import { writeResults } from '../../src/results/results.ts';
import type { LastReading } from '../../src/results/summary.ts';
import { pageName, rowLine } from '../../src/sheet/pages.ts';
import { layoutOf, SUMMARY_FILE } from '../../src/store/batch-file.ts';
import { folderStore } from '../../src/store/folder.ts';
import type { Draft, Store } from '../../src/store/store.ts';
import { paramsOf } from '../batch/params.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { FILE as VALID } from '../store/batch-facts.ts';

const ROWS = 6;
const FILE = { ...VALID, sheet: { ...VALID.sheet, columns: ['number'], inputs: [], rows: ROWS } };

type CsvRow = Record<string, string>;

describe('the files of a finished batch', () => {
  let folder = '';
  let store: Store;
  let finished: string[];

  beforeEach(async () => {
    folder = freshFolder();
    store = folderStore(folder);
    finished = [];
    const numbers = Array.from({ length: ROWS }, (_, at) => at + 1);
    const layout = layoutOf(store, FILE);
    await layout.write('sheet.csv', `number\n${numbers.map((row) => `n${row}`).join('\n')}\n`);
    await layout.write(
      pageName(1),
      numbers.map((row) => rowLine(row, `k${row}`, undefined, `{"n":${row}}`)).join(''),
    );
    // Row 6 was never sent.
    await part(1, [record(5), record(2, 'refused')]);
    await part(2, [record(1), record(4, 'timed-out'), record(3, 'failed')]);
  });

  const record = (row: number, outcome: PartRecord['outcome'] = 'succeeded'): PartRecord => ({
    row,
    outcome,
    attempts: [],
    files: [],
  });
  const part = (number: number, records: readonly PartRecord[], pass = 1): Promise<void> =>
    store.write(partName(pass, number), records.map((row) => `${JSON.stringify(row)}\n`).join(''));

  /** The store, which notes which file is whole, in their order. */
  const noting = (): Store => ({
    ...store,
    write: async (name, content, as) => {
      await store.write(name, content, as);
      finished.push(name);
    },
    update: async (name, next) => {
      await store.update(name, next);
      finished.push(name);
    },
    draft: async (name, of): Promise<Draft> => {
      const draft = await store.draft(name, of);
      return {
        ...draft,
        commit: async () => {
          await draft.commit();
          finished.push(name);
        },
      };
    },
  });

  const READING = { lists: 'none', duplicates: { runs: 0, gpu_seconds: 0, cost_usd: 0, first: [] } } as const;
  const written = (reading: LastReading | Promise<LastReading> = READING): Promise<void> =>
    writeResults({
      confirm: async () => undefined,
      file: FILE,
      store: noting(),
      progress: progress(begin(paramsOf({ rows: ROWS }), WRITES, 1_000)),
      startedAt: 1_000,
      endedAt: 61_000,
      reading,
      isEvidenceLost: false,
      throughPass: 1,
    });
  const table = async (name: string): Promise<readonly CsvRow[]> =>
    parse((await store.read(name)) ?? '', { columns: true });

  it('are in the order of the sheet, each row beside its own cells, also those that were never sent', async () => {
    await written();
    expect((await table('results.csv')).map((row) => [row['number'], row['row'], row['outcome']])).toEqual([
      ['n1', '1', 'succeeded'],
      ['n2', '2', 'refused'],
      ['n3', '3', 'failed'],
      ['n4', '4', 'timed-out'],
      ['n5', '5', 'succeeded'],
      ['n6', '6', 'cancelled'],
    ]);
    const lines = ((await store.read('results.jsonl')) ?? '').trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as RowRecord).row)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('are written while the lists are still read, but no summary', async () => {
    const reading = Promise.withResolvers<LastReading>();
    const done = written(reading.promise);
    await vi.waitFor(async () => expect(await store.exists('events.jsonl')).toBe(true));
    expect(finished).toContain('results.csv');
    expect(finished).not.toContain('report.html');
    reading.resolve({ ...READING, lists: 'incomplete' });
    await done;
    expect(JSON.parse((await store.read('summary.json')) ?? '{}')).toMatchObject({ lists: 'incomplete' });
  });

  it('have no summary if the reading of the lists failed', async () => {
    const reading = Promise.reject<LastReading>(new Error('given up'));
    reading.catch(() => undefined);
    await expect(written(reading)).rejects.toThrow('given up');
    expect(await store.exists('summary.json')).toBe(false);
  });

  it('have every row that did not succeed in failures.csv', async () => {
    await written();
    expect((await table('failures.csv')).map((row) => row['row'])).toEqual(['2', '3', '4', '6']);
  });

  it('tell what a later pass came to where a row was written twice', async () => {
    await part(1, [record(3), record(6, 'unknown')], 2);
    await written();
    const outcomes = (await table('results.csv')).map((row) => row['outcome']);
    expect(outcomes).toEqual(['succeeded', 'refused', 'succeeded', 'timed-out', 'succeeded', 'unknown']);
    expect((await table('failures.csv')).map((row) => row['row'])).toEqual(['2', '4', '6']);
  });

  it('take the tenth pass for later than the second, and its hundredth part for later than its ninth', async () => {
    await part(1, [record(1, 'unknown')], 10);
    await part(9, [record(2, 'unknown')], 10);
    await part(100, [record(2, 'failed')], 10);
    await part(1, [record(1, 'failed'), record(2)], 2);
    await written();
    const outcomes = (await table('results.csv')).map((row) => row['outcome']);
    expect(outcomes.slice(0, 2)).toEqual(['unknown', 'failed']);
  });

  it('say that the batch is done when all others are there', async () => {
    await written();
    expect(finished.at(-1)).toBe(SUMMARY_FILE);
    expect(finished.toSorted()).toEqual(
      [
        'events.jsonl',
        'failures.csv',
        'report.html',
        'report/live.js',
        'report/rows/00001.js',
        'report/small.js',
        'results.csv',
        'results.jsonl',
        SUMMARY_FILE,
      ].toSorted(),
    );
  });
});
