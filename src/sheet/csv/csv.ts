// Reads CSV and TSV sheets. csv-parse splits the fields; this file counts the lines, because csv-parse counts a CRLF inside
// quotes as two lines.

import { pipeline } from 'node:stream';
import { CsvError, type Info, parse } from 'csv-parse';
import { Cursor, type Spot, lenientTextOf, linesOf, textOf } from '../text/sheet-text.ts';
import {
  MOST_RECORD,
  type Column,
  type RecordFault,
  type SheetRecord,
  tooLong,
  refuseNames,
} from '../sheet-record.ts';
import { problem, type Correction, type RunsheetError } from '../../errors/error.ts';
import { shellWord } from '../../errors/outside-text.ts';
import { type SheetOptions, isSkipped } from '../sheet-options.ts';
import type { SheetSource } from '../sheet-source.ts';

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

const DELIMITERS = [
  { character: ';', value: ';', name: 'semicolons' },
  { character: '\t', value: 'tab', name: 'tabs' },
  { character: '|', value: '|', name: 'vertical bars' },
  { character: ',', value: ',', name: 'commas' },
] as const;

/** The delimiter. Throws E602 if `--delimiter` is not one usable character. */
function delimiterOf({ delimiter, format }: SheetOptions): string {
  if (delimiter === undefined) return format === 'tsv' ? '\t' : ',';
  if (delimiter === 'tab' || delimiter === String.raw`\t`) return '\t';
  if (/^[^"\r\n]$/u.test(delimiter)) return delimiter;
  const what = `--delimiter ${JSON.stringify(delimiter)} is not one character`;
  throw problem('E602', { what, hint: "for example --delimiter ';' or --delimiter tab" });
}

/** E102 if the header has only other delimiters than the expected one; undefined if it fits. */
async function delimiterFault(
  source: SheetSource,
  options: SheetOptions,
): Promise<RunsheetError | undefined> {
  const own = delimiterOf(options);
  let line = 0;
  for await (const header of linesOf(lenientTextOf(source, options), MOST_RECORD)) {
    line += 1;
    if (header.trim() === '') continue;
    const bare = header.replaceAll(/"[^"]*"?/g, '');
    const other = DELIMITERS.find(({ character }) => bare.includes(character));
    if (other === undefined || bare.includes(own)) return undefined;
    const ownName = DELIMITERS.find(({ character }) => character === own)?.name ?? JSON.stringify(own);
    const what = `the header has no ${ownName}; the file looks separated by ${other.name}`;
    const hint = `add --delimiter ${shellWord(other.value)}`;
    const correction: Correction = { add: [['--delimiter', other.value]] };
    return problem('E102', { what, hint }, { place: { file: source.name, line, column: 1 }, correction });
  }
  return undefined;
}

type QuoteFault = Spot & {
  readonly kind: 'unclosed' | 'inside a field' | 'behind a quote' | 'too long';
  /** The line in which the scan noticed it. */
  readonly metInLine: number;
};

/**
 * The first quoting error of this text; `column` counts fields. The parser reports an unclosed quote only at the end of the sheet,
 * far from where it opened, so the sheet is read a second time.
 */
async function quoteFault(texts: AsyncIterable<string>, delimiter: string): Promise<QuoteFault | undefined> {
  const scan = new Scan(delimiter);
  for await (const text of texts) {
    const fault = scan.take(text);
    if (fault) return fault;
  }
  return scan.end();
}

/**
 * `start`: at the beginning of a field; `bare`: in an unquoted field; `quoted`: inside quotes; `closed`: after a quote that
 * ends the field unless a second quote follows immediately.
 */
type State = 'start' | 'bare' | 'quoted' | 'closed';

class Scan {
  readonly #cursor = new Cursor();
  /** The characters that have a meaning outside quotes. */
  readonly #mark: RegExp;
  #state: State = 'start';
  #field = 1;
  #recordSize = 0;
  #record: Spot = { line: 1, column: 1 };
  #opened: Spot = { line: 1, column: 1 };

  constructor(delimiter: string) {
    this.#mark = new RegExp(`["\\r\\n\\u{${delimiter.codePointAt(0)?.toString(16)}}]`, 'gu');
  }

  take(text: string): QuoteFault | undefined {
    let at = 0;
    while (at < text.length) {
      const mark = this.#nextMark(text, at);
      const fault = this.#content(text.slice(at, mark.at)) ?? this.#meet(mark.character);
      if (fault) return fault;
      at = mark.at + mark.character.length;
    }
    return undefined;
  }

  end(): QuoteFault | undefined {
    if (this.#state === 'quoted') return this.#fault('unclosed', this.#opened);
    return this.#recordSize > MOST_RECORD ? this.#fault('too long', this.#record) : undefined;
  }

  #nextMark(text: string, from: number): { readonly at: number; readonly character: string } {
    if (this.#state === 'quoted') {
      const at = text.indexOf('"', from);
      return at < 0 ? { at: text.length, character: '' } : { at, character: '"' };
    }
    this.#mark.lastIndex = from;
    const found = this.#mark.exec(text);
    return found ? { at: found.index, character: found[0] } : { at: text.length, character: '' };
  }

  #content(text: string): QuoteFault | undefined {
    if (text === '') return undefined;
    this.#pass(text);
    if (this.#state === 'quoted') return undefined;
    // In a record of this size the closing quote is most likely the opening quote of a later field.
    if (this.#state === 'closed')
      return this.#fault(this.#recordSize > MOST_RECORD ? 'unclosed' : 'behind a quote', this.#opened);
    this.#state = 'bare';
    return this.#recordSize > MOST_RECORD ? this.#fault('too long', this.#record) : undefined;
  }

  #meet(character: string): QuoteFault | undefined {
    if (character === '') return undefined;
    if (character === '\r' || character === '\n') return this.#endRecord(character);
    const spot = { line: this.#cursor.line, column: this.#field };
    this.#pass(character);
    if (character !== '"') {
      this.#field += 1;
      this.#state = 'start';
      return undefined;
    }
    if (this.#state === 'bare') return this.#fault('inside a field', spot);
    if (this.#state === 'start') this.#opened = spot;
    this.#state = this.#state === 'quoted' ? 'closed' : 'quoted';
    return undefined;
  }

  #endRecord(lineBreak: string): QuoteFault | undefined {
    if (this.#recordSize > MOST_RECORD) return this.#fault('too long', this.#record);
    this.#pass(lineBreak);
    this.#state = 'start';
    this.#field = 1;
    this.#recordSize = 0;
    this.#record = { line: this.#cursor.line, column: 1 };
    return undefined;
  }

  #pass(text: string): void {
    this.#cursor.pass(text);
    this.#recordSize += Buffer.byteLength(text);
  }

  #fault(kind: QuoteFault['kind'], spot: Spot): QuoteFault {
    return { ...spot, kind, metInLine: this.#cursor.line };
  }
}
