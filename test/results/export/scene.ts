// A batch folder whose sheet has everything that programs like to change: long numbers, leading zeros, formulas, foreign letters.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import {
  exportBatch,
  type Exported,
  type ExportOptions,
} from '../../../src/library/handle/exported-batch.ts';
import type { FoundBatch } from '../../../src/library/handle/found-batch.ts';
import { encodePng } from '../../../src/run-service/executors/rehearsal/pictures/pictures.ts';
import { partName } from '../../../src/results/parts.ts';
import type { AttemptRecord, FileRecord, PartRecord } from '../../../src/results/row-record.ts';
import { pageName, pageOf, rowLine } from '../../../src/sheet/pages.ts';
import { layoutOf, type BatchFile } from '../../../src/store/batch-file.ts';
import { folderStore } from '../../../src/store/folder.ts';
import { FILE } from '../../store/batch-facts.ts';

/** The cells of a column, each in a row of its own. */
export const CELLS = [
  '123456789012345678',
  '007',
  '=1+1',
  '+49 30 123',
  '-1',
  '@SUM(A1)',
  'Äpfel, Größe; "Straße"',
  '日本 👩‍🎨 🎨',
  'two\nlines',
  '_x0041_ is no A',
  ' spaces ',
  '<b>&amp;</b>',
  '1e5',
  '2026-11-21',
  'TRUE',
  `${'long '.repeat(8_000)}end`,
  '',
] as const;

/** Rows whose files exist. */
const PICTURES = 100;

const COLUMNS = ['sku', 'note'];

export type Scene = Disposable & {
  readonly folder: string;
  readonly batchFolder: FoundBatch;
  readonly write: (options?: ExportOptions) => Promise<Exported>;
};

type RunCost = Pick<AttemptRecord, 'cost_usd' | 'cost_incomplete'>;

const record = (row: number, files: readonly FileRecord[], cost: RunCost): PartRecord => ({
  row,
  outcome: 'succeeded',
  attempts: [
    {
      attempt: 1,
      outcome: 'succeeded',
      run_id: `run-${row}`,
      gpu_used: '=L4',
      queue_seconds: 0.5,
      cold_start_seconds: 1,
      run_seconds: 3,
      ...cost,
    },
  ],
  files,
});

const fileOf = (row: number, nth: number): FileRecord => ({
  path: `outputs/SKU ${row}${nth === 1 ? '' : `~${nth}`}.png`,
  bytes: 100,
  sha256: 'ab'.repeat(32),
  name: 'out.png',
  node: String(8 + nth),
});

/** The last row has no outcome yet. Row 1 has two files, the others one. */
export async function scene(
  cells: readonly string[] = CELLS,
  cost: RunCost = { cost_usd: 0.0016 },
): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-export-'));
  const store = folderStore(folder);
  const file: BatchFile = {
    ...FILE,
    batch: 'b-7f3a',
    sheet: {
      ...FILE.sheet,
      name: 'catalogue.csv',
      options: { ...FILE.sheet.options, keyColumn: 'sku' },
      columns: COLUMNS,
      inputs: [],
      rows: cells.length,
    },
    deployment: { id: 'd', name: 'portraits' },
  };
  const layout = layoutOf(store, file);
  const rows = cells.map((cell, at) => [`SKU ${at + 1}`, cell]);
  await layout.write('sheet.csv', stringify([COLUMNS, ...rows]));
  const pages = Map.groupBy(rows.entries(), ([at]) => pageOf(at + 1));
  for (const [page, ofPage] of pages)
    await layout.write(
      pageName(page),
      ofPage.map(([at]) => rowLine(at + 1, `SKU ${at + 1}`, undefined, '{}')).join(''),
    );
  const records = rows
    .slice(0, -1)
    .map((_, at) => record(at + 1, at === 0 ? [fileOf(1, 1), fileOf(1, 2)] : [fileOf(at + 1, 1)], cost));
  await store.write(partName(1, 1), records.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const picture = encodePng(
    { width: 8, height: 4, pixels: new Uint8Array(8 * 4) },
    Uint8Array.of(200, 0, 0),
    '',
  );
  for (const { path } of records.slice(0, PICTURES).flatMap(({ files }) => files))
    await store.write(path, picture, 'cached');
  const batchFolder: FoundBatch = { batch: file.batch, folder, file, store };
  return {
    folder,
    batchFolder,
    write: (options) => exportBatch(batchFolder, options),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}
