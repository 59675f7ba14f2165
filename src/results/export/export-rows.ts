// The rows of a batch as an export shows them, even while the batch runs: the cells of the sheet unchanged, then the result.

import { firstOf } from '../../sheet/sheet-record.ts';
import { RESULT_COLUMNS, resultNames, type ResultColumn } from '../../sheet/result-columns.ts';
import type { BatchFile } from '../../store/batch-file.ts';
import type { Store } from '../../store/store.ts';
import { newestPass } from '../../store/passes.ts';
import { countRows, recordOf, shownRow, type ShownRow } from '../batch-rows.ts';
import { rowsWithCells } from '../results.ts';
import { leadingColumns } from '../sent-texts.ts';
import { cellsOf } from '../result-cells.ts';
import { summarizedPass } from '../summary.ts';
import { csvCells, CsvLines } from '../csv-lines.ts';

export type ExportRow = { readonly record: ShownRow; readonly cells: readonly string[] };

/** The batch with its current rows; rows appended later are left out. */
export type ExportSource = {
  readonly file: BatchFile;
  readonly store: Store;
  readonly rows: number;
  readonly hasEnded: boolean;
  /** The sheet's own columns, and the texts of templates. */
  readonly own: readonly string[];
  readonly results: readonly string[];
  readonly read: () => AsyncIterable<ExportRow>;
};

export async function exportSource(store: Store, file: BatchFile): Promise<ExportSource> {
  const rows = await countRows(store, file);
  const hasEnded = (await summarizedPass(store)) === (await newestPass(store));
  const own = leadingColumns(file);
  return {
    file,
    store,
    rows,
    hasEnded,
    own,
    results: resultNames(own),
    // A row of an ended batch that was never sent is cancelled.
    read: () => firstOf(rowsWithCells(store, file, hasEnded ? recordOf : shownRow), rows),
  };
}

/** Result columns that are numbers in formats with numbers. Cells of the sheet never are. */
const NUMBERS: ReadonlySet<ResultColumn> = new Set([
  'row',
  'attempts',
  'queue_seconds',
  'cold_start_seconds',
  'run_seconds',
  'cost_usd',
]);

/** The values of the result columns; undefined where there is none. */
export function resultValues(record: ShownRow): readonly (string | number | undefined)[] {
  const cells = cellsOf(record);
  return RESULT_COLUMNS.map((column) => {
    const cell = cells[column];
    if (cell === '') return undefined;
    return NUMBERS.has(column) ? Number(cell) : cell;
  });
}

/** The rows as CSV, with the columns of results.csv. */
export async function* csvLines({ own, results, read }: ExportSource): AsyncGenerator<string> {
  const lines = new CsvLines();
  yield lines.add([...own, ...results]);
  for await (const row of read()) yield lines.add(csvCells(row));
  yield lines.rest();
}

/** The rows as JSON lines, with the fields of results.jsonl. */
export async function* jsonLines({ read }: ExportSource): AsyncGenerator<string> {
  for await (const { record } of read()) yield `${JSON.stringify(record)}\n`;
}
