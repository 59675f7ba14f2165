// Reads a sheet of any format as columns and records. It opens the sheet twice: for the columns, then for the rows.

import { problem } from '../errors/error.ts';
import { csvColumns, csvRecords } from './csv/csv.ts';
import { jsonColumns, jsonRecords } from './json/json.ts';
import type { SheetOptions } from './sheet-options.ts';
import { type Column, firstOf, type SheetRecord } from './sheet-record.ts';
import type { SheetSource } from './sheet-source.ts';
import { workbookColumns, workbookRecords } from './xlsx/unpacked-sheet.ts';

const isJson = ({ format }: SheetOptions): boolean => format === 'json' || format === 'jsonl';

export function columnsOf(source: SheetSource, options: SheetOptions): Promise<readonly Column[]> {
  if (options.format === 'xlsx') return workbookColumns(source, options);
  return isJson(options) ? jsonColumns(source, options) : csvColumns(source, options);
}

/** The first `limit` rows. An unreadable row carries its fault. */
export function recordsOf(
  source: SheetSource,
  options: SheetOptions,
  columns: readonly string[],
): AsyncIterable<SheetRecord> {
  return firstOf(allRecords(source, options, columns), options.limit);
}

function allRecords(
  source: SheetSource,
  options: SheetOptions,
  columns: readonly string[],
): AsyncIterable<SheetRecord> {
  if (options.format === 'xlsx') return workbookRecords(source, options, columns.length);
  return isJson(options)
    ? jsonRecords(source, options, columns)
    : csvRecords(source, options, columns.length);
}

/**
 * The cells of every row in the order of its columns. From JSON: strings without quotes, other values as JSON text, '' if
 * absent. `columns` saves the first read of a JSON sheet. Throws E103 for an unreadable row.
 */
export async function* readCells(
  open: SheetSource['open'],
  options: SheetOptions,
  columns?: readonly string[],
): AsyncGenerator<readonly string[]> {
  const source = { name: 'the sheet', open };
  const names = columns ?? (await columnsOf(source, options)).map(({ name }) => name);
  for await (const { cells, fault } of recordsOf(source, options, names)) {
    if (fault) throw problem('E103', fault, { place: { file: source.name, line: fault.line } });
    yield cells.map(cellText);
  }
}

/** A value as the cell of a CSV sheet. */
export function cellText(cell: unknown): string {
  if (typeof cell === 'string') return cell;
  return cell === undefined || cell === null ? '' : JSON.stringify(cell);
}
