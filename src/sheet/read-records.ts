// Reads a sheet of any format as columns and records. It opens the sheet twice: for the columns, then for the rows.

import { problem } from '../errors/error.ts';
import { isJson, isTrade, isWorkbook } from './formats.ts';
import { csvColumns, csvRecords } from './csv/csv.ts';
import { jsonColumns, jsonRecords } from './json/json.ts';
import { expandedRows, isExpanded, ownWidth, withAdded, whereOf } from './grid/expanded-rows.ts';
import { filledDown, rowGroups } from './fill-down.ts';
import { cellText, type Column, firstOf, type SheetRecord } from './sheet-record.ts';
import type { SheetSource, SheetOptions } from './sheet-source.ts';
import { workbookColumns, workbookRecords } from './xlsx/unpacked-sheet.ts';
import { fingerprint, KeyTable } from './row-keys.ts';
import { tradeColumns, tradeRecords } from './trade/text-records.ts';

export async function columnsOf(source: SheetSource, options: SheetOptions): Promise<readonly Column[]> {
  // Filtered rows may have other members than the first rows.
  const { limit: _, ...whole } = options;
  const own = await sheetColumns(source, options.where === undefined ? options : whole);
  return withAdded(own, options);
}

/** The columns of the sheet itself. */
export function sheetColumns(source: SheetSource, options: SheetOptions): Promise<readonly Column[]> {
  if (isWorkbook(options.format)) return workbookColumns(source, options);
  if (isTrade(options.format)) return tradeColumns(source, options);
  return isJson(options.format) ? jsonColumns(source, options) : csvColumns(source, options);
}

/** The first `limit` rows. An unreadable row carries its fault. */
export function recordsOf(
  source: SheetSource,
  options: SheetOptions,
  columns: readonly string[],
): AsyncIterable<SheetRecord> {
  return firstOf(expandedOf(source, options, columns, false), options.limit);
}

/** Every row of the sheet once, with the first of its values; guesses are about these rows. */
export const surveyedRecords = (
  source: SheetSource,
  options: SheetOptions,
  columns: readonly string[],
): AsyncIterable<SheetRecord> => expandedOf(source, options, columns, true);

function expandedOf(
  source: SheetSource,
  options: SheetOptions,
  columns: readonly string[],
  isSurveyed: boolean,
): AsyncIterable<SheetRecord> {
  const own = columns.slice(0, ownWidth(options, columns));
  const records = shapedRecords(source, options, own);
  if (!isExpanded(options)) return records;
  const rows = expandedRows(records, options, columns, isSurveyed);
  const { unique, repeat, where: _, ...recordOptions } = options;
  // The counted seeds of one row may reach those of another.
  return unique === true && repeat?.isSame !== true && !isSurveyed
    ? firstOfEach(rows, recordOptions, columns)
    : rows;
}

function allRecords(source: SheetSource, options: SheetOptions, columns: readonly string[]) {
  if (isWorkbook(options.format)) return workbookRecords(source, options, columns.length);
  if (isTrade(options.format)) return tradeRecords(source, options, columns);
  return isJson(options.format)
    ? jsonRecords(source, options, columns)
    : csvRecords(source, options, columns);
}

/**
 * The cells of every row in the order of its columns. From JSON: strings without quotes, other values as JSON text, '' if
 * absent. `columns` saves the first read of a JSON sheet. Throws E103 for an unreadable row, unless such rows are skipped.
 */
export async function* readCells(
  open: SheetSource['open'],
  options: SheetOptions,
  columns?: readonly string[],
): AsyncGenerator<readonly string[]> {
  const source = { name: 'the sheet', open };
  const names = columns ?? (await columnsOf(source, options)).map(({ name }) => name);
  for await (const { cells, fault } of recordsOf(source, options, names)) {
    if (fault && options.invalid !== 'skip')
      throw problem('E103', fault, { place: { file: source.name, line: fault.line } });
    yield cells.map(cellText);
  }
}

/**
 * Fills empty cells from above, and keeps the first of equal rows. Runs before rows are expanded. `names`: the columns of the
 * sheet itself.
 */
function shapedRecords(
  source: SheetSource,
  options: SheetOptions,
  names: readonly string[],
): AsyncIterable<SheetRecord> {
  const { fillDown = [], unique = false } = options;
  const wanted = fillDown.map((name) => names.indexOf(name)).filter((at) => at >= 0);
  const filled =
    wanted.length > 0 ? filledRecords(source, options, names, wanted) : allRecords(source, options, names);
  return unique ? firstOfEach(filled, options, names) : filled;
}

async function* filledRecords(
  source: SheetSource,
  options: SheetOptions,
  names: readonly string[],
  wanted: readonly number[],
): AsyncGenerator<SheetRecord> {
  const dittos = new Set<number>();
  const groups = await rowGroups(allRecords(source, options, names), names, wanted, dittos);
  yield* filledDown(source.name, allRecords(source, options, names), wanted, groups, dittos);
}

/** The used rows without those that equal an earlier row in every column that is sent. */
async function* firstOfEach(
  records: AsyncIterable<SheetRecord>,
  options: SheetOptions,
  names: readonly string[],
): AsyncGenerator<SheetRecord> {
  const data = new Set([...options.drop, options.keyColumn]);
  const compared = names.flatMap((name, at) => (data.has(name) ? [] : [at]));
  const isMet = whereOf(options, names);
  const seen = new KeyTable();
  let row = 0;
  for await (const record of records) {
    row += 1;
    const is = record.fault !== undefined || isMet(record);
    if (record.fault !== undefined || typeof is === 'object') yield record;
    else if (is) {
      const content = fingerprint(JSON.stringify(compared.map((at) => cellText(record.cells[at]))));
      if (seen.sight(content, row).nth === 1) yield record;
    }
  }
}
