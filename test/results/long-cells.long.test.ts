// A batch of long cells can close: nothing is joined into one text that grows with the rows, and the report shows the
// beginning of what is long.

import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { begin } from '../../src/batch/state/state.ts';
import { progress } from '../../src/batch/shown/progress.ts';
import { WRITES } from '../../src/batch/behaviour-version.ts';
import { partName } from '../../src/results/parts.ts';
import { rowsWithCells, writeResults } from '../../src/results/results.ts';
import { recordOf } from '../../src/results/batch-rows.ts';
import { pageSource } from '../../src/results/page/page-source.ts';
import { pageName, rowLine } from '../../src/sheet/pages.ts';
import { layoutOf, type BatchFile } from '../../src/store/batch-file.ts';
import { folderStore } from '../../src/store/folder.ts';
import type { Draft, Store } from '../../src/store/store.ts';
import { paramsOf } from '../batch/params.ts';
import { readReport } from './page/read-report.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { FILE } from '../store/batch-facts.ts';

const MARK = '0123456789abcdef';
const MIB = 1024 * 1024;

type Batch = { readonly store: Store; readonly file: BatchFile };
type LongRow = { readonly note: string; readonly inputs: Readonly<Record<string, unknown>> };

/** A batch whose rows have all failed, with a column that is no input. */
async function batchOf(rows: readonly LongRow[], reason = 'the run failed'): Promise<Batch> {
  const folder = freshFolder();
  const store = folderStore(folder);
  const layout = layoutOf(store, { mark: MARK });
  await layout.write('sheet.csv', `note\n${rows.map(({ note }) => `${note}\n`).join('')}`);
  const lines = rows.map(({ inputs }, at) =>
    rowLine(at + 1, `k${at + 1}`, undefined, JSON.stringify(inputs)),
  );
  await layout.write(pageName(1), lines.join(''));
  const records = rows.map((_, at) => {
    const row = { row: at + 1, outcome: 'failed', reason, attempts: [], files: [] };
    return `${JSON.stringify(row)}\n`;
  });
  await store.write(partName(1, 1), records.join(''));
  const options = { ...FILE.sheet.options, drop: ['note'] };
  const sheet = { ...FILE.sheet, options, columns: ['note'], inputs: [], rows: rows.length };
  return { store, file: { ...FILE, sheet } };
}

/** Closes the batch; answers with the length of the longest text that was written at once. */
async function close({ store, file }: Batch): Promise<number> {
  let longest = 0;
  const measured = (content: string | Uint8Array): void => {
    longest = Math.max(longest, content.length);
  };
  const measuring: Store = {
    ...store,
    write: (name, content, as) => {
      measured(content);
      return store.write(name, content, as);
    },
    draft: async (name): Promise<Draft> => {
      const draft = await store.draft(name);
      return {
        ...draft,
        write: (content) => {
          measured(content);
          return draft.write(content);
        },
      };
    },
  };
  await writeResults({
    confirm: async () => undefined,
    file,
    store: measuring,
    progress: progress(begin(paramsOf({ rows: file.sheet.rows }), WRITES, 1_000)),
    startedAt: 1_000,
    endedAt: 61_000,
    reading: { lists: 'none', duplicates: { runs: 0, gpu_seconds: 0, cost_usd: 0, first: [] } },
    isEvidenceLost: false,
    throughPass: 1,
  });
  return longest;
}

describe('a batch of long cells', () => {
  it('closes without joining its rows into one text, and its own cells stand in the results whole', async () => {
    const long = 'x'.repeat(MIB / 8);
    const batch = await batchOf(
      Array.from({ length: 200 }, (_, at) => ({ note: `${at}${long}`, inputs: { prompt: long } })),
    );
    expect(await close(batch)).toBeLessThan(2 * MIB);
    const results = await batch.store.read('results.csv');
    const table: readonly Record<string, string>[] = parse(results ?? '', { columns: true });
    expect(table).toHaveLength(200);
    expect(table.every(({ note }, at) => note === `${at}${long}`)).toBe(true);
    expect(await batch.store.exists('summary.json')).toBe(true);
  });

  it('is read row by row', async () => {
    const { store, file } = await batchOf(
      Array.from({ length: 3 }, (_, at) => ({ note: `n${at}`, inputs: { prompt: 'a' } })),
    );
    const cells: unknown[] = [];
    for await (const { record, cells: own } of rowsWithCells(store, file, recordOf))
      cells.push([record.row, own]);
    expect(cells).toEqual([
      [1, ['n0']],
      [2, ['n1']],
      [3, ['n2']],
    ]);
  });
});

describe('the report', () => {
  it('shows the beginning of a long cell and of a long reason', async () => {
    const batch = await batchOf(
      [{ note: 'n', inputs: { prompt: `A fox ${'x'.repeat(MIB)}` } }],
      'y'.repeat(MIB),
    );
    await close(batch);
    const { html, texts, rows } = await readReport(batch.store);
    const { script, style } = await pageSource();
    expect(html.length - script.length - style.length).toBeLessThan(60_000);
    expect(texts('reason')[0]).toMatch(/^y{160}…$/);
    expect(texts('c0')[0]).toBe('n');
    expect(rows[0]?.inputs['prompt']).toMatch(/^A fox x+…$/);
    expect(rows[0]?.reason).toMatch(/^y+…$/);
    expect(JSON.stringify(rows).length).toBeLessThan(20_000);
  });

  it('shows the first inputs of a row that has thousands, and says how many it leaves out', async () => {
    const inputs = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, at) => [`input ${at}`, 'x'.repeat(100)]),
    );
    const batch = await batchOf([{ note: 'n', inputs }]);
    await close(batch);
    const { rows } = await readReport(batch.store);
    expect(JSON.stringify(rows).length).toBeLessThan(30_000);
    const named = Object.keys(rows[0]?.inputs ?? {}).length;
    expect(named).toBeGreaterThan(10);
    expect(rows[0]?.more).toBe(5_000 - named);
  });

  it('shows short rows whole', async () => {
    const batch = await batchOf([{ note: 'n', inputs: { prompt: 'a fox', seed: 7 } }]);
    await close(batch);
    const [row] = (await readReport(batch.store)).rows;
    expect(row).toMatchObject({ inputs: { prompt: 'a fox', seed: '7' }, reason: 'the run failed' });
    expect(row?.more).toBeUndefined();
  });
});
