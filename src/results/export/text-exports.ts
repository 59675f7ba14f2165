// Exports as text: CSV with the columns of results.csv, and JSON lines with those of results.jsonl.

import { isFormula } from '../../errors/outside-text.ts';
import { csvCells, CsvLines } from '../csv-lines.ts';
import type { ExportRow, ExportSource } from './export-rows.ts';
import { writeAll, type Sink } from './sink.ts';

const BOM = '\uFEFF';
/** Digits of a number that Excel keeps. */
const EXCEL_DIGITS = 15;

export async function writeCsv(source: ExportSource, sink: Sink): Promise<readonly string[]> {
  await writeAll(sink, csvLines(source));
  return [];
}

export async function* csvLines({ own, results, read }: ExportSource): AsyncGenerator<string> {
  const lines = new CsvLines();
  yield lines.add([...own, ...results]);
  for await (const row of read()) yield lines.add(csvCells(row));
  yield lines.rest();
}

/** CSV that Excel opens with the right letters, and in which no cell is a formula. */
export async function writeExcelCsv(source: ExportSource, sink: Sink): Promise<readonly string[]> {
  const seen = { changed: 0 };
  await writeAll(sink, excelLines(source, seen));
  if (seen.changed === 0) return [];
  return [
    `Excel changes ${seen.changed} cells when it opens a CSV file: leading zeros, or more than ${EXCEL_DIGITS} digits; --as xlsx keeps them`,
  ];
}

async function* excelLines(
  { own, results, read }: ExportSource,
  seen: { changed: number },
): AsyncGenerator<string> {
  const lines = new CsvLines({ record_delimiter: 'windows' });
  yield BOM + lines.add([...own, ...results].map(withoutFormula));
  for await (const row of read()) {
    const cells = csvCells(row);
    seen.changed += cells.filter(isChangedByExcel).length;
    yield lines.add(cells.map(withoutFormula));
  }
  yield lines.rest();
}

/** Numbers stay numbers; line breaks stay. */
const withoutFormula = (cell: string): string => (!isDecimal(cell) && isFormula(cell) ? `'${cell}` : cell);

const isDecimal = (cell: string): boolean => /^[+-]?\d+(?:\.\d+)?$/.test(cell);

const isChangedByExcel = (cell: string): boolean =>
  /^\d+$/.test(cell) && (cell.length > EXCEL_DIGITS || (cell.length > 1 && cell.startsWith('0')));

export async function writeJsonl({ read }: ExportSource, sink: Sink): Promise<readonly string[]> {
  await writeAll(sink, jsonLines(read()));
  return [];
}

async function* jsonLines(rows: AsyncIterable<ExportRow>): AsyncGenerator<string> {
  for await (const { record } of rows) yield `${JSON.stringify(record)}\n`;
}
