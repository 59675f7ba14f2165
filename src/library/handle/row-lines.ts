// Reads rows of a batch as lines with chosen fields, even while the batch runs.

import { hintAmong, problem } from '../../errors/error.ts';
import {
  rowsOf,
  shownRow,
  type BatchRow,
  type ShownRow,
  countRows,
  rowOf,
} from '../../results/batch-rows.ts';
import { csvCells, CsvLines } from '../../results/csv-lines.ts';
import { headerOf, rowsWithCells } from '../../results/results.ts';
import { cellsOf, csvCellsOf } from '../../results/result-cells.ts';
import { ownColumns, RESULT_COLUMNS, type ResultColumn } from '../../sheet/result-columns.ts';
import type { BatchFile } from '../../store/batch-file.ts';
import type { FoundBatch } from './found-batch.ts';
import type { Config } from '../../host/settings/config.ts';
import type { RunService } from '../../service-client/client.ts';
import { openServices } from '../../service-client/open-services.ts';
import { openTransport } from '../../host/http/transport.ts';

export type RowLine = {
  readonly record: ShownRow;
  /** A result column or a column of the sheet, else an input of the row. */
  readonly cellOf: (field: string, form: 'table' | 'csv') => string;
};

/** The default fields. */
export const USUAL_FIELDS: readonly string[] = [
  'row',
  'key',
  'outcome',
  'gpu_used',
  'run_seconds',
  'attempts',
  'reason',
] satisfies ResultColumn[];

/** Fields that exist only in the sheet: columns that are no inputs. */
export const fieldsOfSheet = ({ sheet }: BatchFile, fields: readonly string[]): readonly string[] =>
  fields.filter(
    (field) =>
      !(RESULT_COLUMNS as readonly string[]).includes(field) &&
      !sheet.inputs.some(({ input }) => input === field),
  );

/** Throws E602 for a field that is neither a result column, nor an input, nor a column of the sheet. */
export function refuseUnknownFields({ sheet }: BatchFile, fields: readonly string[]): void {
  const inputs = sheet.inputs.map(({ input }) => input);
  const columns = [...new Set([...RESULT_COLUMNS, ...inputs, ...ownColumns(sheet.columns)])];
  const wrong = fields.find((field) => !columns.includes(field));
  if (wrong === undefined) return;
  throw problem('E602', {
    what: `--fields: there is no column ${JSON.stringify(wrong)}`,
    hint: hintAmong(wrong, 'columns', columns),
  });
}

/** `columns`: the cells of columns that are no inputs, by name. */
export const lineOf = (record: ShownRow, columns: Readonly<Record<string, string>> = {}): RowLine => ({
  record,
  cellOf: (field, form) => {
    const cells: Readonly<Record<string, string>> =
      form === 'csv' ? { ...columns, ...csvCellsOf(record) } : { ...columns, ...cellsOf(record) };
    const value = cells[field] ?? record.inputs[field] ?? '';
    return typeof value === 'string' ? value : JSON.stringify(value);
  },
});

/** Reads the sheet again only if a field exists only there. */
export async function* rowLines(
  { store, file }: FoundBatch,
  fields: readonly string[],
): AsyncGenerator<RowLine> {
  const wanted = fieldsOfSheet(file, fields);
  if (wanted.length === 0) {
    for await (const row of rowsOf(store, file)) yield lineOf(shownRow(row, file));
    return;
  }
  const own = ownColumns(file.sheet.columns);
  const places = wanted.map((field) => [field, own.indexOf(field)] as const);
  for await (const { record, cells } of rowsWithCells(store, file, shownRow))
    yield lineOf(record, Object.fromEntries(places.map(([field, at]) => [field, cells[at] ?? ''])));
}

export async function* resultsSoFar({ store, file }: FoundBatch): AsyncGenerator<string> {
  const csv = new CsvLines();
  yield csv.add(headerOf(file));
  for await (const row of rowsWithCells(store, file, shownRow)) yield csv.add(csvCells(row));
  yield csv.rest();
}

/** Throws E505. */
export async function findShownRow(
  batchFolder: FoundBatch,
  name: RowName,
): Promise<BatchRow & { readonly shown: ShownRow }> {
  const row = await findRow(batchFolder, name);
  return { ...row, shown: shownRow(row, batchFolder.file) };
}

/** A row by its number, else by its key. */
export type RowName = { readonly row?: number | undefined; readonly key?: string };

/** Undefined if the service has no logs. */
type RunLog = Awaited<ReturnType<RunService['getRunLog']>>;

export const readRunLog = (
  config: Config,
  { file }: Pick<FoundBatch, 'file'>,
  runId: string,
): Promise<RunLog> => openServices(config, openTransport(1)).at(file.service).getRunLog(runId);

/** Throws E505. */
export async function findRow({ batch, store, file }: FoundBatch, { row, key }: RowName): Promise<BatchRow> {
  const byNumber = row === undefined ? undefined : await rowOf(store, file, row);
  if (byNumber !== undefined) return byNumber;
  if (key !== undefined)
    for await (const batchRow of rowsOf(store, file)) if (batchRow.row.key === key) return batchRow;
  throw problem('E505', { batch, row: key ?? row ?? '', rows: await countRows(store, file) });
}

/** The run of this attempt, or of the last attempt with a run. Throws E519. */
export function runOf({ batch }: FoundBatch, { row, record }: BatchRow, attempt: number | undefined): string {
  const attempts = record?.attempts ?? [];
  const attemptRecord = attempts.findLast(
    (candidate) => candidate.run_id !== undefined && (attempt === undefined || candidate.attempt === attempt),
  );
  if (attemptRecord?.run_id === undefined) throw problem('E519', { batch, row: row.row, attempt });
  return attemptRecord.run_id;
}
