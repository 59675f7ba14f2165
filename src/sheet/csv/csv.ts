// Reads CSV and TSV sheets: the columns of the header, and the rows below it.

import { lenientTextOf, linesOf, textOf } from '../text/sheet-text.ts';
import { MAX_RECORD, type Column, type RecordFault, type SheetRecord, tooLong } from '../sheet-record.ts';
import { columnsFrom, namesWithout } from '../header.ts';
import { problem, type Correction } from '../../errors/error.ts';
import { shellWord } from '../../errors/outside-text.ts';
import { type SheetSource, type SheetOptions, isSkipped } from '../sheet-source.ts';
import { isWithoutBullets } from '../text/plain-text.ts';
import { spokenLine } from '../text/speakers.ts';
import { completedRows, type CompletedRecord } from './completed-rows.ts';
import { withoutBullet } from './bullets.ts';
import { joinedLine, ListTexts } from './list-texts.ts';
import { CsvParser, QuoteError, type CsvRecord, type QuoteFault } from './csv-parser.ts';

export type RecordFields = Pick<CsvRecord, 'line' | 'fields' | 'fault'>;

/** The header. Throws E102 for another delimiter and E104 for unusable names. */
export async function csvColumns(source: SheetSource, options: SheetOptions): Promise<readonly Column[]> {
  for await (const { line, fields, fault: broken } of fieldsOf(source, options)) {
    if (broken !== undefined) throw problem('E103', faultOf(broken), placeOf(source, broken));
    if (options.headerRow === 0) {
      const width = options.longRows === true ? await widthOf(source, options, fields) : fields.length;
      return columnsFrom(source.name, 0, withVoice(namesWithout(options, width), options));
    }
    if (hasVoices(options)) return columnsFrom(source.name, line, withVoice(fields, options));
    // With an explicit --delimiter a single column is intended.
    const fault =
      fields.length === 1 && options.delimiter === undefined && (await delimiterFault(source, options));
    if (fault) throw fault;
    return columnsFrom(source.name, line, padded(fields, await widthOf(source, options, fields)));
  }
  throw problem('E104', { what: 'the sheet is empty' }, { place: { file: source.name } });
}

/** The columns that have a name or a value: Excel saves nameless, empty ones after the last one, and `longRows` have more than the header. */
async function widthOf(source: SheetSource, options: SheetOptions, header: readonly string[]) {
  const most = options.longRows === true ? Number.POSITIVE_INFINITY : header.length;
  let width = header.findLastIndex((name) => name.trim() !== '') + 1;
  if (width === 0) width = header.length;
  if (width === most) return width;
  for await (const { line, fields, fault, isEnclosed } of fieldsOf(source, options)) {
    const isJoined = options.unquoted !== undefined && isEnclosed !== true && fields.length > header.length;
    if (!isSkipped(options, line) && fault === undefined && !isJoined)
      width = Math.max(width, fields.slice(0, most).findLastIndex((field) => field.trim() !== '') + 1);
    if (width === most) break;
  }
  return width;
}

const padded = (names: readonly string[], width: number): readonly string[] =>
  Array.from({ length: width }, (_, at) => names[at] ?? '');

/** Every row after the header. A row that does not have as many fields as there are `columns` carries a fault. */
export async function* csvRecords(
  source: SheetSource,
  options: SheetOptions,
  columns: readonly string[],
): AsyncGenerator<SheetRecord> {
  const width = columns.length;
  const [delimiter = ',', takes] = [parserOf(options).delimiter, columns.indexOf(options.unquoted ?? '')];
  let header = options.headerRow !== 0;
  let least = options.longRows === true ? 0 : width;
  // Rows that may be short are whole lines.
  const mayBreak = takes >= 0 && options.shortRows !== true && options.delimiter !== NO_DELIMITER;
  const records = mayBreak ? wholeRows(source, options, width, takes) : fieldsOf(source, options);
  for await (const { line, fields, raw, fault, isEnclosed } of records) {
    // Rows without surplus cells have none in the columns beyond the header.
    if (least === 0) least = Math.min(fields.length, width);
    // A row without values is blank, except in a single-column sheet, where spaces are a value.
    if (header || isSkipped(options, line) || (width > 1 && isEmptyRow(fields))) header = false;
    else if (fault !== undefined) yield { line, column: 1, cells: [], fault: faultOf(fault) };
    else {
      const areCells = isEnclosed === true || delimiter !== ',';
      const whole = isEnclosed === true ? fields : joined(fields, least, takes, delimiter);
      const cells = fitted(whole, width, options.shortRows === true ? 0 : least);
      const record = { line, column: 1, cells, ...(raw === undefined ? {} : { raw }) };
      yield cells.length === width ? record : { ...record, fault: raggedness(line, width, fields, areCells) };
    }
  }
}

/** The header, and the rows below it; lines that complete a text that is broken at the column `at` belong to its row. */
export async function* wholeRows(
  source: SheetSource,
  options: SheetOptions,
  width: number,
  at: number,
): AsyncGenerator<CompletedRecord> {
  const records = fieldsOf(source, options);
  const header = options.headerRow === 0 ? undefined : await records.next();
  if (header?.done === false) yield header.value;
  yield* completedRows(records, { width, at, isLeftOut: (line) => isSkipped(options, line) });
}

/** Joins the field at `at` with the surplus fields of the row: they are one text whose delimiters were not quoted. */
function joined(fields: readonly string[], width: number, at: number, delimiter: string): readonly string[] {
  const end = at + fields.length - width + 1;
  if (at < 0 || fields.length <= width) return fields;
  return [...fields.slice(0, at), fields.slice(at, end).join(delimiter), ...fields.slice(end)];
}

/** Pads missing cells at the end of a row of `least` fields, or drops surplus empty ones. */
function fitted(fields: readonly string[], width: number, least: number): readonly string[] {
  if (fields.length > width && isEmptyRow(fields.slice(width))) return fields.slice(0, width);
  if (fields.length >= width || fields.length < least) return fields;
  return [...fields, ...Array.from({ length: width - fields.length }, () => '')];
}

/** Every row that is not blank, from the header on. */
export async function* fieldsOf(source: SheetSource, options: SheetOptions): AsyncGenerator<CsvRecord> {
  let headerSeen = false;
  let isWhole = true;
  const cellsOf = cellsReader(options);
  try {
    for await (const record of linesJoined(source, options)) {
      if (record.line < (options.headerRow ?? 1)) continue;
      if (!headerSeen && isBlank(record.fields)) continue;
      headerSeen = true;
      const otherDelimiter = isWhole && record.fault !== undefined && (await delimiterFault(source, options));
      if (otherDelimiter) throw otherDelimiter;
      isWhole &&= record.fault === undefined;
      yield cellsOf === undefined ? record : { ...record, fields: cellsOf(record.fields) };
    }
  } catch (error) {
    throw error instanceof QuoteError ? tooLong({ file: source.name, line: error.fault.line }) : error;
  }
}

/** The records; in a list whose text is `unquoted`, some lines belong to the one above. A line that is left out is part of none. */
function linesJoined(source: SheetSource, options: SheetOptions): AsyncIterable<CsvRecord> {
  const records = parsed(source, parserOf(options), options);
  const isWrapped = options.unquoted !== undefined || options.tags === 'paragraphs';
  return options.delimiter === NO_DELIMITER && isWrapped ? listTexts(records, source, options) : records;
}

async function* listTexts(
  records: AsyncIterable<CsvRecord>,
  source: SheetSource,
  options: SheetOptions,
): AsyncGenerator<CsvRecord> {
  const texts = new ListTexts(options.tags);
  let isHeader = options.headerRow !== 0;
  let above: CsvRecord | undefined;
  let text = '';
  let name: string | undefined;
  for await (const record of records) {
    const [line = ''] = record.fields;
    if (isHeader || record.fault !== undefined) {
      isHeader &&= record.line < (options.headerRow ?? 1);
      yield record;
    } else if (isSkipped(options, record.line)) texts.leaveOut(line, record.line);
    else if (texts.continues(line, record.line)) {
      text = joinedLine(name === undefined ? text : `${name}:`, line);
      name = undefined;
    } else {
      if (above !== undefined) yield { ...above, fields: [text] };
      [above, text, name] = [record, line, texts.name];
    }
    if (text.length > MAX_RECORD) throw tooLong({ file: source.name, line: above?.line ?? record.line });
  }
  if (above !== undefined) yield { ...above, fields: [text] };
}

/** Changes the fields of a record where they are not yet the cells; undefined if they are. */
function cellsReader(options: SheetOptions): ((fields: readonly string[]) => readonly string[]) | undefined {
  const { delimiter, tags } = options;
  if (hasVoices(options)) return spokenFields;
  // A Markdown table pads its cells.
  if (delimiter === '|') return (fields) => fields.map((text) => text.trim());
  if (delimiter !== NO_DELIMITER || !isWithoutBullets(tags)) return undefined;
  const isEnclosing = options.quote !== undefined && options.quote !== 'none';
  return (fields) =>
    fields.map((text) => {
      const bare = withoutBullet(text);
      return isEnclosing && bare !== text ? unquoted(bare) : bare;
    });
}

/** The text after a number of a list, without the quotes around all of it. */
const unquoted = (text: string): string =>
  /^\s*"((?:[^"]|"")*)"\s*$/.exec(text)?.[1]?.replaceAll('""', '"') ?? text;

/** Whether the lines of a list are a text and the name of its speaker. */
const hasVoices = ({ delimiter, tags }: SheetOptions): boolean =>
  delimiter === NO_DELIMITER && tags === 'voices';

const withVoice = (names: readonly string[], options: SheetOptions): readonly string[] =>
  hasVoices(options) ? [names[0] ?? '', 'voice'] : names;

function spokenFields([line = '']: readonly string[]): readonly string[] {
  const text = withoutBullet(line);
  const spoken = spokenLine(text);
  return [spoken?.text ?? text, spoken?.voice ?? ''];
}

export const parserOf = (options: SheetOptions): CsvParser => {
  const { delimiter, quote, comment } = options;
  return new CsvParser({
    delimiter: delimiter === NO_DELIMITER ? undefined : delimiterOf(options),
    quoting: quote ?? (delimiter === NO_DELIMITER ? 'none' : 'csv'),
    comment: comment === 'none' ? undefined : comment,
  });
};

/** Each line is one field. */
const NO_DELIMITER = 'none';

export async function* parsed(
  source: SheetSource,
  parser: CsvParser,
  writing: SheetOptions,
): AsyncGenerator<CsvRecord> {
  for await (const text of textOf(source, writing)) yield* parser.take(text);
  yield* parser.end();
}

const isEmptyRow = (fields: readonly string[]): boolean => fields.every((field) => field.trim() === '');

const isBlank = (fields: readonly string[]): boolean => fields.length === 1 && fields[0]?.trim() === '';

function raggedness(line: number, width: number, fields: readonly string[], areCells: boolean): RecordFault {
  const tooMany = fields.length > width;
  const first = fields.slice(width).find((text) => text.trim() !== '') ?? '';
  return {
    line,
    column: Math.min(width, fields.length) + 1,
    what: `this row has ${fields.length} ${fields.length === 1 ? 'field' : 'fields'}, and the header has ${width}`,
    hint: !tooMany
      ? 'give every row as many fields as the header; an empty cell still needs its delimiter'
      : areCells
        ? 'if the further cells are data: --long-rows'
        : 'put a field that contains the delimiter in quotes, or name its column: --unquoted <column>',
    ...(tooMany && { surplus: { of: areCells ? 'cells' : 'commas', first } }),
  };
}

const placeOf = ({ name }: SheetSource, { line, column }: QuoteFault) => ({
  place: { file: name, line, column },
});

function faultOf({ kind, line, column, metInLine }: QuoteFault): RecordFault {
  const within = metInLine === line ? '' : ` (noticed in line ${metInLine})`;
  const what = {
    unclosed: 'the quote that opens here is not closed',
    endless: `the quote that opens here is not closed within ${MAX_RECORD / 1024 / 1024} MiB`,
    'inside a field': 'unexpected quote in a field that does not begin with a quote',
    'after a quote': `unexpected text after the closing quote of this field${within}`,
    'too long': 'the record is too long',
  }[kind];
  const hint = 'put a field that contains quotes in quotes, and double each quote inside it: "say ""hi"""';
  return { line, column, what, hint, isLine: true };
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

/** The text without braces whose bars separate choices, as in `{red|blue} fox`. */
export const withoutChoices = (text: string): string => text.replaceAll(/\{[^{}]*\}/g, '');

/** E102 if the header uses a delimiter other than the expected one; undefined if it fits. */
async function delimiterFault(source: SheetSource, options: SheetOptions) {
  if (options.delimiter === NO_DELIMITER) return undefined;
  const own = delimiterOf(options);
  let line = 0;
  for await (const header of linesOf(lenientTextOf(source, options), MAX_RECORD)) {
    line += 1;
    if (header.trim() === '') continue;
    const bare = withoutChoices(header.replaceAll(/"[^"]*"?/g, ''));
    const actual = DELIMITERS.find(({ character }) => bare.includes(character));
    if (actual === undefined || bare.includes(own)) return undefined;
    const ownName = DELIMITERS.find(({ character }) => character === own)?.name ?? JSON.stringify(own);
    const what = `the header has no ${ownName}; the file looks separated by ${actual.name}`;
    const hint = `add --delimiter ${shellWord(actual.value)}`;
    const correction: Correction = { add: [['--delimiter', actual.value]] };
    return problem('E102', { what, hint }, { place: { file: source.name, line, column: 1 }, correction });
  }
  return undefined;
}
