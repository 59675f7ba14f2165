// Reads CSV and TSV sheets. csv-parse splits the fields; this file counts the lines, because csv-parse counts a CRLF inside
// quotes as two lines.

import { pipeline } from 'node:stream';
import { CsvError, type Info, parse } from 'csv-parse';
import { problem, type RunsheetError } from '../../errors/error.ts';
import { delimiterFault, delimiterOf } from './delimiters.ts';
import { isSkipped, type SheetOptions } from '../sheet-options.ts';
import { quoteFault } from './quotes.ts';
import type { Column, RecordFault, SheetRecord } from '../sheet-record.ts';
import { MOST_RECORD, tooLong } from '../sheet-record.ts';
import { refuseNames } from '../header-names.ts';
import type { SheetSource } from '../sheet-source.ts';
import { lenientTextOf, textOf } from '../text/sheet-text.ts';

export type Fields = { readonly line: number; readonly fields: readonly string[] };

/** The header. Throws E102 for another delimiter and E104 for unusable names. */
export async function csvColumns(source: SheetSource, options: SheetOptions): Promise<readonly Column[]> {
  for await (const { line, fields } of fieldsOf(source, options)) {
    const columns = fields.map((name, index) => ({ name: name.trim(), line, column: index + 1 }));
    // With an explicit --delimiter a single column is intended.
    const fault =
      columns.length === 1 && options.delimiter === undefined && (await delimiterFault(source, options));
    if (fault) throw fault;
    refuseNames(source.name, columns);
    return columns;
  }
  throw problem('E104', { what: 'the sheet is empty' }, { place: { file: source.name } });
}

/** Every row after the header. A row that does not have `width` fields carries a fault. */
export async function* csvRecords(
  source: SheetSource,
  options: SheetOptions,
  width: number,
): AsyncGenerator<SheetRecord> {
  let header = true;
  for await (const { line, fields } of fieldsOf(source, options)) {
    // A row without values is blank, except in a sheet with one column, where spaces are a value.
    if (header || isSkipped(options, line) || (width > 1 && isEmptyRow(fields))) header = false;
    else if (fields.length === width) yield { line, column: 1, cells: fields };
    else yield { line, column: 1, cells: fields, fault: raggedness(line, width, fields) };
  }
}

/** Every row that is not blank, from the header on. */
export async function* fieldsOf(source: SheetSource, options: SheetOptions): AsyncGenerator<Fields> {
  const parser = parse({
    delimiter: delimiterOf(options),
    info: true,
    max_record_size: MOST_RECORD,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_empty_lines: true,
  });
  // An error in the pipeline destroys the parser, so the loop below throws it.
  pipeline(textOf(source, options), parser, () => undefined);
  let linesBefore = 0;
  let headerSeen = false;
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: Info }>) {
      const line = 1 + linesBefore + info.empty_lines;
      linesBefore += 1 + breaksIn(record);
      if (line < (options.headerRow ?? 1)) continue;
      if (!headerSeen && isBlank(record)) continue;
      headerSeen = true;
      yield { line, fields: record };
    }
  } catch (error) {
    throw error instanceof CsvError ? await unreadable(source, options, error) : error;
  }
}

const isEmptyRow = (fields: readonly string[]): boolean => fields.every((field) => field.trim() === '');

const isBlank = (fields: readonly string[]): boolean => fields.length === 1 && fields[0]?.trim() === '';

/** The line breaks inside of fields. */
export function breaksIn(fields: readonly string[]): number {
  let breaks = 0;
  for (const field of fields)
    if (field.includes('\n') || field.includes('\r')) breaks += field.match(/\r\n?|\n/g)?.length ?? 0;
  return breaks;
}

function raggedness(line: number, width: number, fields: readonly string[]): RecordFault {
  const tooMany = fields.length > width;
  return {
    line,
    column: Math.min(width, fields.length) + 1,
    what: `this row has ${fields.length} ${fields.length === 1 ? 'field' : 'fields'}, and the header has ${width}`,
    hint: tooMany
      ? 'put a field that contains the delimiter in quotes'
      : 'give every row as many fields as the header; an empty cell still needs its delimiter',
  };
}

async function unreadable(
  source: SheetSource,
  options: SheetOptions,
  cause: CsvError,
): Promise<RunsheetError> {
  const otherDelimiter = await delimiterFault(source, options);
  if (otherDelimiter) return otherDelimiter;
  const fault = await quoteFault(lenientTextOf(source, options), delimiterOf(options));
  if (!fault) return problem('E103', { what: cause.message }, { place: { file: source.name }, cause });
  const place = { file: source.name, line: fault.line, column: fault.column };
  if (fault.kind === 'too long') return tooLong({ file: source.name, line: fault.line });
  const within = fault.metInLine === fault.line ? '' : ` (noticed in line ${fault.metInLine})`;
  const what = {
    unclosed: 'the quote that opens here is not closed',
    'inside a field': 'unexpected quote in a field that does not begin with a quote',
    'behind a quote': `unexpected text after the closing quote of this field${within}`,
  }[fault.kind];
  const hint = 'put a field that contains quotes in quotes, and double each quote inside it: "say ""hi"""';
  return problem('E103', { what, hint }, { place, cause });
}
