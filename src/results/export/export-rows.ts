// The rows of a batch as an export shows them: the cells of the sheet as given, then the result; also while the batch runs.

import { firstOf } from '../../sheet/sheet-record.ts';
import { ownColumns, RESULT_COLUMNS, resultNames, type ResultColumn } from '../../sheet/header.ts';
import type { BatchFile } from '../../store/batch-file.ts';
import type { Store, Draft } from '../../store/store.ts';
import { newestPass } from '../../store/passes.ts';
import { countRows, recordOf, shownRow, type ShownRow } from '../batch-rows.ts';
import { rowsWithCells } from '../results.ts';
import { cellsOf } from '../row-record.ts';
import { summarizedPass } from '../summary.ts';
import { csvCells, CsvLines } from '../csv-lines.ts';

export type ExportRow = { readonly record: ShownRow; readonly cells: readonly string[] };

/** The batch with its current rows; rows appended later are left out. */
export type ExportSource = {
  readonly file: BatchFile;
  readonly store: Store;
  readonly rows: number;
  readonly hasEnded: boolean;
  readonly own: readonly string[];
  readonly results: readonly string[];
  readonly read: () => AsyncIterable<ExportRow>;
};

export async function exportSource(store: Store, file: BatchFile): Promise<ExportSource> {
  const rows = await countRows(store, file);
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

// Where an export goes: a file that appears only when it is complete, or a stream.

export type Sink = Pick<Draft, 'write'>;

const PIECE = 1 << 18;

/** Joins short texts, so that each write is worthwhile. */
export async function* inPieces(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let piece = '';
  for await (const text of texts) {
    piece += text;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

export async function writeAll(sink: Sink, texts: AsyncIterable<string>): Promise<readonly string[]> {
  for await (const piece of inPieces(texts)) await sink.write(piece);
  return [];
}

// Exports as text: CSV with the columns of results.csv, and JSON lines with those of results.jsonl.

export async function* csvLines({ own, results, read }: ExportSource): AsyncGenerator<string> {
  const lines = new CsvLines();
  yield lines.add([...own, ...results]);
  for await (const row of read()) yield lines.add(csvCells(row));
  yield lines.rest();
}

export async function* jsonLines({ read }: ExportSource): AsyncGenerator<string> {
  for await (const { record } of read()) yield `${JSON.stringify(record)}\n`;
}
