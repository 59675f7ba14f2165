// The workbook, read back by Python's standard library.

import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { fileURLToPath } from 'node:url';
import type { Exported } from '../../../src/library/handle/exported-batch.ts';
import { WorkbookWriter } from '../../../src/results/export/xlsx/workbook.ts';
import type { SheetLine } from '../../../src/results/export/xlsx/written-worksheet.ts';
import { RESULT_COLUMNS } from '../../../src/sheet/result-columns.ts';
import { CELLS, scene, type Scene } from './scene.ts';
import { freshFolder } from '../../stage/fresh-folder.ts';

type Sheet = {
  readonly name: string;
  readonly cells: Readonly<Record<string, string | number>>;
  readonly links: Readonly<Record<string, string>>;
  readonly frozen: boolean;
};
type Workbook = { readonly sheets: readonly Sheet[]; readonly pictures: number };

const read = (file: string | URL): Workbook =>
  JSON.parse(
    execFileSync('python3', [
      join(import.meta.dirname, 'read-workbook.py'),
      typeof file === 'string' ? file : fileURLToPath(file),
    ]).toString(),
  ) as Workbook;

/** The text that a spreadsheet shows for a cell. */
const shown = (cell: string | number | undefined): string =>
  String(cell ?? '')
    .replaceAll('_x000D_', '\r')
    .replaceAll('_x005F_', '_');

describe('the workbook of a batch', () => {
  let batch: Scene;
  let workbook: Workbook;
  let results: Sheet | undefined;
  let exported: Exported;

  beforeAll(async () => {
    batch = await scene();
    exported = await batch.write();
    workbook = read(exported.file);
    [results] = workbook.sheets;
  });
  afterAll(() => batch[Symbol.dispose]());

  it('lies in the batch folder, and the export says what it lacks', () => {
    expect(fileURLToPath(exported.file)).toBe(join(batch.folder, 'b-7f3a.xlsx'));
    expect(exported).toMatchObject({ rows: CELLS.length, notes: [expect.stringContaining('1 cells cut')] });
  });

  it('has every cell of the sheet as text, exactly as given, and none as a formula', () => {
    for (const [at, cell] of CELLS.entries())
      expect(shown(results?.cells[`B${at + 2}`])).toBe(cell.slice(0, 32_767));
  });

  it('has the result columns after those of the sheet, our numbers as numbers', () => {
    const header = Object.entries(results?.cells ?? {}).filter(([name]) => /^[A-Z]+1$/.test(name));
    expect(header.map(([, name]) => name)).toEqual(['sku', 'note', ...RESULT_COLUMNS]);
    expect(results?.cells).toMatchObject({
      C2: 1,
      I2: '=L4',
      J2: 1,
      K2: 0.5,
      M2: 3,
      N2: 0.0016,
      E2: 'succeeded',
    });
  });

  it('shows a row without an outcome as open', () => {
    expect(results?.cells[`E${CELLS.length + 1}`]).toBe('open');
  });

  it('links each row to its file by a relative address, and keeps its header in sight', () => {
    expect(results?.links).toMatchObject({ Q2: 'outputs/SKU%201.png', Q3: 'outputs/SKU%202.png' });
    expect(results?.frozen).toBe(true);
  });

  it('has a summary, and every file with the node that made it', () => {
    const [, summary, files] = workbook.sheets;
    expect(workbook.sheets.map(({ name }) => name)).toEqual(['Results', 'Summary', 'Files']);
    const facts = Object.fromEntries(
      CELLS.map((_, at) => [summary?.cells[`A${at + 2}`], summary?.cells[`B${at + 2}`]]),
    );
    expect(facts).toMatchObject({
      batch: 'b-7f3a',
      rows: CELLS.length,
      succeeded: CELLS.length - 1,
      open: 1,
      state: 'the batch had not ended',
    });
    expect(files?.cells).toMatchObject({
      B3: 'SKU 1',
      C3: 'outputs/SKU 1~2.png',
      D2: '9',
      D3: '10',
      E2: 100,
    });
    expect(files?.links).toMatchObject({ C3: 'outputs/SKU%201~2.png' });
  });

  it('has a thumbnail of each picture', () => expect(workbook.pictures).toBe(CELLS.length - 1));
});

describe('the cost in a workbook', () => {
  it.each([
    [{ cost_usd: 0.5 }, 0.5],
    [{ cost_usd: 0 }, 0],
    [{ cost_incomplete: true }, undefined],
  ] as const)('of a run that cost %j is %s', async (cost, usd) => {
    using batch = await scene(['a', 'b'], cost);
    const [, summary] = read((await batch.write()).file).sheets;
    const cells = Object.entries(summary?.cells ?? {});
    const [name] = cells.find(([, text]) => text === 'cost in US dollars, estimated') ?? [];
    expect(name && summary?.cells[name.replace('A', 'B')]).toBe(usd);
  });
});

describe('a workbook somewhere else', () => {
  it('links to the batch folder', async () => {
    using batch = await scene(['a', 'b']);
    const { file } = await batch.write({ file: join(batch.folder, '..', `${Date.now()}.xlsx`) });
    const [results] = read(file).sheets;
    expect(results?.links['Q2']).toBe(`${batch.folder.split('/').at(-1)}/outputs/SKU%201.png`);
    execFileSync('rm', [fileURLToPath(file)]);
  });
});

describe('without the decoder of pictures', () => {
  it('a workbook has no thumbnails, and the export says so', async () => {
    vi.doMock('sharp', () => {
      throw new Error('not installed');
    });
    try {
      using batch = await scene(['a', 'b']);
      const { file, notes } = await batch.write();
      expect(notes).toEqual(['no thumbnails: the optional package sharp is not installed']);
      expect(read(file).pictures).toBe(0);
    } finally {
      vi.doUnmock('sharp');
    }
  });
});

describe('a sheet of a workbook', () => {
  it('has an address made only for links that it has room for', async () => {
    const capacity = { rows: 5, links: 3 };
    const made: string[] = [];
    const linkTo = async (path: string): Promise<string> => `https://${path}?${made.push(path)}`;
    const lines = async function* (): AsyncGenerator<SheetLine> {
      for (let row = 1; row <= 7; row += 1)
        yield { cells: [row], link: { at: 0, to: () => linkTo(`${row}.png`) } };
    };
    const path = join(freshFolder(), 'x.xlsx');
    const workbook = new WorkbookWriter({ write: async (chunk) => appendFileSync(path, chunk) }, capacity);
    const { linksLeft } = await workbook.addSheet({ name: 'Results', header: ['row'], lines: lines() });
    await workbook.end();
    expect([linksLeft, made]).toEqual([1, [1, 2, 3, 5, 6, 7].map((row) => `${row}.png`)]);
    expect(read(path).sheets.map((sheet) => sheet.links)).toEqual([
      { A2: 'https://1.png?1', A3: 'https://2.png?2', A4: 'https://3.png?3' },
      { A2: 'https://5.png?4', A3: 'https://6.png?5', A4: 'https://7.png?6' },
    ]);
  });

  it('that is full is continued by a second one, and has at most as many links as Excel opens', async () => {
    const lines = async function* (): AsyncGenerator<SheetLine> {
      for (let row = 1; row <= 7; row += 1) yield { cells: [row], link: { at: 0, to: () => `${row}.png` } };
    };
    const path = join(freshFolder(), 'x.xlsx');
    const workbook = new WorkbookWriter(
      { write: async (chunk) => appendFileSync(path, chunk) },
      { rows: 5, links: 3 },
    );
    const limits = await workbook.addSheet({ name: 'Results', header: ['row'], lines: lines() });
    await workbook.end();
    expect(limits).toEqual({ cutCells: 0, linksLeft: 1 });
    const { sheets } = read(path);
    expect(sheets.map(({ name, links }) => [name, Object.keys(links).length])).toEqual([
      ['Results', 3],
      ['Results 2', 3],
    ]);
    expect(sheets[0]?.cells).toEqual({ A1: 'row', A2: 1, A3: 2, A4: 3, A5: 4 });
    expect(sheets[1]?.cells).toEqual({ A1: 'row', A2: 5, A3: 6, A4: 7 });
  });
});
