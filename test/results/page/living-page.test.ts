import { inflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  beginLivingPage,
  showPart,
  type Live,
  type LivePart,
} from '../../../src/results/page/living-page.ts';
import type { RowRecord } from '../../../src/results/row-record.ts';
import type { BatchFile } from '../../../src/store/batch-file.ts';
import { OUTCOMES } from '../../../src/batch/outcome.ts';
import { partName } from '../../../src/results/parts.ts';
import { pageName } from '../../../src/sheet/pages.ts';
import { jsonLines } from '../../../src/store/pieces.ts';
import { folderStore } from '../../../src/store/folder.ts';
import type { Store } from '../../../src/store/store.ts';
import { freshFolder } from '../../stage/fresh-folder.ts';

const FILE = {
  batch: 'portraits-1',
  mark: '0123456789abcdef',
  createdAt: '2026-11-21T09:00:00.000Z',
  sheet: {
    name: 'portraits.csv',
    sha256: '0',
    columns: ['sku', 'prompt'],
    inputs: [{ input: 'prompt', kind: 'auto', from: { column: 'prompt' } }],
    rows: 9,
  },
  deployment: { id: 'd', name: 'portraits' },
  service: { rehearsal: false },
} as unknown as BatchFile;

const rowOf = (row: number): RowRecord => ({
  row,
  key: `SKU-${row}`,
  outcome: 'succeeded',
  inputs: { prompt: `a chair ${row}` },
  attempts: [],
  files: [],
});

async function contentOf(store: Store, name: string): Promise<unknown> {
  const [, base64 = ''] = /"(.*)"/.exec((await store.read(name)) ?? '') ?? [];
  return base64 === '' ? undefined : JSON.parse(inflateRawSync(Buffer.from(base64, 'base64')).toString());
}

describe('the page in the folder of a batch that runs', () => {
  it('names the first and the last part of each pass, also if an earlier one comes later', async () => {
    const store = folderStore(freshFolder());
    await beginLivingPage({ store, file: FILE }, 0);
    for (const [pass, part] of [
      [1, 3],
      [1, 4],
      [1, 2],
      [2, 1],
    ] as const)
      await showPart({ store, file: FILE }, { pass, part }, [rowOf(part)]);
    const { at, rows, parts } = (await contentOf(store, 'report/live.js')) as Live;
    expect([rows, parts]).toEqual([9, { 0: [1, 1], 1: [2, 4], 2: [1, 1] }]);
    expect(Date.now() - at).toBeLessThan(60_000);
    const part = (await contentOf(store, 'report/live/1-2.js')) as LivePart;
    const { key, c0, c1 } = part.columns;
    expect([part.rows, key, c0, c1]).toEqual([[2], ['SKU-2'], undefined, ['a chair 2']]);
    expect(part.full[0]?.inputs).toEqual({ prompt: 'a chair 2' });
  });

  it('begins with the rows that have ended before', async () => {
    const store = folderStore(freshFolder());
    const rows = Array.from({ length: 9 }, (_, at) => ({ row: at + 1, key: `SKU-${at + 1}`, inputs: {} }));
    await store.write(`layout/${FILE.mark}/${pageName(1)}`, jsonLines(rows));
    await store.write(partName(1, 4), jsonLines([{ row: 2, outcome: 'failed', attempts: [], files: [] }]));
    await beginLivingPage({ store, file: FILE }, 0);
    expect(await contentOf(store, 'report/live/0-1.js')).toMatchObject({
      rows: [2],
      columns: { outcome: [OUTCOMES.indexOf('failed')] },
    });
  });

  it('that is damaged keeps no rows from being collected', async () => {
    const store = folderStore(freshFolder());
    await beginLivingPage({ store, file: FILE }, 0);
    await store.write('report/live.js', 'runsheetRows(0,"damaged")');
    await showPart({ store, file: FILE }, { pass: 1, part: 2 }, [rowOf(2)]);
    expect(((await contentOf(store, 'report/live.js')) as Live).parts).toEqual({ 1: [2, 2] });
  });

  it('is not written twice, and not for a batch that began without it', async () => {
    const store = folderStore(freshFolder());
    await showPart({ store, file: FILE }, { pass: 1, part: 1 }, [rowOf(1)]);
    expect(await store.list('report')).toEqual([]);
    await beginLivingPage({ store, file: FILE }, 0);
    const before = await store.facts('report.html');
    await beginLivingPage({ store, file: FILE }, 0);
    expect(await store.facts('report.html')).toEqual(before);
  });
});
