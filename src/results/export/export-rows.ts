// The rows of a batch as an export shows them: the cells of the sheet as given, then the result; also while the batch runs.

import { readBatchSheet } from '../../sheet/batch-sheet.ts';
import { ownColumns, RESULT_COLUMNS, resultNames, type ResultColumn } from '../../sheet/result-columns.ts';
import type { BatchFile } from '../../store/batch-file.ts';
import type { Store } from '../../store/store.ts';
import { newestPass } from '../../store/passes.ts';
import { recordOf } from '../batch-rows.ts';
import { rowsWithCells } from '../results.ts';
import { cellsOf } from '../row-record.ts';
import { shownRow, type ShownRow } from '../shown-row.ts';
import { summarizedPass } from '../summary.ts';

export type ExportRow = { readonly record: ShownRow; readonly cells: readonly string[] };

/** The batch with the rows that it has now; rows that are appended later are left out. */
export type ExportSource = {
  readonly file: BatchFile;
  readonly store: Store;
  readonly rows: number;
  readonly hasEnded: boolean;
  /** The columns of the sheet. */
  readonly own: readonly string[];
  /** The names of the result columns. */
  readonly results: readonly string[];
  readonly read: () => AsyncGenerator<ExportRow>;
};

export async function exportSource(store: Store, file: BatchFile): Promise<ExportSource> {
  const { rows } = await readBatchSheet(store, file);
  const hasEnded = (await summarizedPass(store)) === (await newestPass(store));
  const own = ownColumns(file.sheet.columns);
  return {
    file,
    store,
    rows,
    hasEnded,
    own,
    results: resultNames(own),
    // A row of an ended batch that was never sent is cancelled.
    read: () => firstRows(rowsWithCells(store, file, hasEnded ? recordOf : shownRow), rows),
  };
}

async function* firstRows(all: AsyncIterable<ExportRow>, most: number): AsyncGenerator<ExportRow> {
  let count = 0;
  for await (const row of all) {
    yield row;
    count += 1;
    if (count === most) return;
  }
}

/** Result columns that are numbers wherever the format has numbers. Cells of the sheet never are. */
const NUMBERS: ReadonlySet<ResultColumn> = new Set([
  'row',
  'attempts',
  'queue_seconds',
  'cold_start_seconds',
  'run_seconds',
  'cost_usd',
]);

const isNumber = (column: ResultColumn): boolean => NUMBERS.has(column);

/** The values of the result columns; undefined where there is none. */
export function resultValues(record: ShownRow): readonly (string | number | undefined)[] {
  const cells = cellsOf(record);
  return RESULT_COLUMNS.map((column) => {
    const cell = cells[column];
    if (cell === '') return undefined;
    return isNumber(column) ? Number(cell) : cell;
  });
}
