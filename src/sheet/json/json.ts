// Reads JSON sheets: one object per line (JSONL), or a document with its rows in a list, by name, or in columns.

import { canonical } from '../../host/formats/canonical-json.ts';
import { problem, type RunsheetError } from '../../errors/error.ts';
import { linesOf, textOf, type Spot } from '../text/sheet-text.ts';
import {
  MAX_RECORD,
  tooLong,
  type Column,
  type RecordFault,
  type SheetRecord,
  firstOf,
  MAX_COLUMNS,
  nameFault,
  shortened,
  spotIn,
} from '../sheet-record.ts';
import { elementsOf, type JsonPiece } from './json-elements.ts';
import { type JsonFault, readJson, Members } from './json-text.ts';
import { textMembers } from './text-members.ts';
import { type SheetSource, isSkipped, type SheetOptions } from '../sheet-source.ts';
import { isRawNumber } from '../../host/formats/exact-json.ts';

/**
 * Every name that a row uses, in the order of first use. A JSON sheet has no header, so it is read once for its names and
 * once for its rows. Throws E104 if a name cannot be a column.
 */
export async function jsonColumns(source: SheetSource, options: SheetOptions): Promise<readonly Column[]> {
  const columns = new Map<string, Column>();
  const paths = pathsIn(options);
  let fault: RecordFault | undefined;
  for await (const piece of firstOf(piecesOf(source, options), options.limit)) {
    const read = readPiece(source, options, piece);
    if ('fault' in read) fault ??= read.fault;
    else {
      const within = paths.filter((path) => valueAt(read.values, path) !== undefined);
      addColumns(source.name, columns, piece, {
        names: [...Object.keys(read.values), ...within],
        unwrap: options.unwrap,
      });
    }
  }
  // Without a readable row there are no columns, so the error of the first row is reported.
  if (columns.size === 0 && fault) {
    const { line, column, ...facts } = fault;
    throw problem('E103', facts, { place: { file: source.name, line, column } });
  }
  return [...columns.values()];
}

/** Throws E104 for too many columns and for unusable names. */
function addColumns(
  file: string,
  columns: Map<string, Column>,
  piece: JsonPiece,
  { names, unwrap }: { readonly names: readonly string[]; readonly unwrap: string | undefined },
) {
  const fresh = names.filter((name) => !columns.has(name));
  if (fresh.length === 0) return;
  const members = new Members(piece, piece.text, unwrap);
  const columnOf = (name: string): Column => {
    const { line, column } = members.get(name)?.name ?? piece;
    return { name, line, column };
  };
  const oneTooMany = fresh[MAX_COLUMNS - columns.size];
  if (oneTooMany !== undefined) throw tooManyNames(file, columnOf(oneTooMany));
  for (const name of fresh) {
    refuseName(file, columnOf(name));
    columns.set(name, columnOf(name));
  }
}

/** Every row, its cells in the order of `columns`. Throws E103 if an array is malformed. */
export async function* jsonRecords(
  source: SheetSource,
  options: SheetOptions,
  columns: readonly string[],
): AsyncGenerator<SheetRecord> {
  const paths = new Set(pathsIn(options));
  for await (const piece of piecesOf(source, options)) {
    const { line, column, text } = piece;
    const read = readPiece(source, options, piece);
    const members = new Members(piece, text, options.unwrap);
    const { values, ...fault } = { values: undefined, ...read };
    const cells = values === undefined ? [] : columns.map((name) => valueOf(values, name, paths));
    yield { line, column, members, cells, ...fault };
  }
}

const valueOf = (values: JsonRow, name: string, paths: ReadonlySet<string>): unknown =>
  Object.hasOwn(values, name) ? values[name] : paths.has(name) ? valueAt(values, name) : undefined;

function piecesOf(source: SheetSource, options: SheetOptions): AsyncGenerator<JsonPiece> {
  const { format, orient, records } = options;
  const texts = textOf(source, options);
  if (format === 'jsonl') return jsonLines(source.name, texts, options);
  if (orient === 'columns') return columnRows(source.name, texts);
  if (orient === 'row') return wholeOf(source.name, texts);
  if (orient === 'texts') return textMembers(source.name, texts, options.columns?.[0] ?? 'text');
  return elementsOf(source.name, texts, { path: records, isIndex: orient === 'index' });
}

/** The document as one row. */
async function* wholeOf(file: string, texts: AsyncIterable<string>): AsyncGenerator<JsonPiece> {
  let text = '';
  for await (const part of texts) {
    text += part;
    if (text.length > MAX_RECORD) throw tooLong({ file, line: 1 });
  }
  yield { text, line: 1, column: 1 };
}

async function* jsonLines(
  file: string,
  texts: AsyncIterable<string>,
  options: SheetOptions,
): AsyncGenerator<JsonPiece> {
  const { comment = 'none' } = options;
  let line = 0;
  const isComment = (text: string): boolean => comment !== 'none' && text.trimStart().startsWith(comment);
  for await (const text of linesOf(texts, MAX_RECORD)) {
    line += 1;
    if (text.length > MAX_RECORD) throw tooLong({ file, line });
    if (text.trim() !== '' && !isComment(text) && !isSkipped(options, line)) yield { text, line, column: 1 };
  }
}

function readPiece(source: SheetSource, options: SheetOptions, piece: JsonPiece): ReadPiece {
  const [, name, text = piece.text] =
    options.orient === 'index' ? (/^("(?:[^"\\]|\\.)*")\s*:\s*(.*)$/s.exec(piece.text) ?? []) : [];
  const read = readJson(text);
  if ('what' in read) return { fault: faultIn(source.name, options, piece, read) };
  const { columns } = options;
  const listed = Array.isArray(read.value) ? read.value : [read.value];
  if (!isRow(read.value) && columns !== undefined && listed.length <= columns.length)
    return { values: Object.fromEntries(listed.map((value, at) => [columns[at] ?? '', value])) };
  if (isRow(read.value)) {
    const values = name === undefined ? read.value : { key: JSON.parse(name) as string, ...read.value };
    return withoutWrapping(values, options.unwrap, piece);
  }
  const what = `a row is a JSON object, and this is ${shortened(piece.text)}`;
  const hint = columns === undefined ? 'for a list of values, name them: --columns prompt' : undefined;
  return { fault: { line: piece.line, column: piece.column, what, ...(hint && { hint }) } };
}

/** A malformed line affects its row only; a malformed array cannot be split into rows. */
function faultIn(file: string, options: SheetOptions, piece: JsonPiece, fault: JsonFault): RecordFault {
  const spot = spotIn(piece, piece.text, fault.at);
  const what = fault.malformed ? `this is not JSON: ${fault.what}` : `this row cannot be sent: ${fault.what}`;
  const hint = hintFor(piece.text.slice(0, fault.at), piece.text.slice(fault.at));
  if (fault.malformed && options.format === 'json')
    throw problem('E103', { what, ...(hint !== undefined && { hint }) }, { place: { file, ...spot } });
  return { ...spot, what, ...(hint !== undefined && { hint }) };
}

function hintFor(before: string, after: string): string | undefined {
  if (/^['‘’“”]/.test(after)) return 'JSON has the quote " around names and texts';
  return /^[}\]]/.test(after) && /,\s*$/.test(before) ? 'remove the comma before it' : undefined;
}

function refuseName(file: string, { name, line, column }: Column): void {
  const fault = nameFault(name);
  const place = { file, line, column, columnName: shortened(name) };
  if (fault) throw problem('E104', { what: fault, hint: 'rename it' }, { place });
}

function tooManyNames(file: string, { name, line, column }: Column): RunsheetError {
  const what = `the rows use more than ${MAX_COLUMNS} different names`;
  const hint = 'each name in an object is a column; put values that differ between rows after the colon';
  return problem('E104', { what, hint }, { place: { file, line, column, columnName: shortened(name) } });
}

// Reads a JSON document in columns, as pandas writes it: {"prompt": {"0": "a fox"}, "seed": {"0": 1}}, or with lists. Its rows are
// known only at its end, so it is read whole.
/** Length in characters. */
const MOST = 64 * 1024 * 1024;

async function* columnRows(file: string, texts: AsyncIterable<string>): AsyncGenerator<JsonPiece> {
  let text = '';
  for await (const piece of texts) {
    text += piece;
    if (text.length > MOST)
      throw problem(
        'E103',
        { what: 'a document in columns is longer than 64 MiB', hint: 'write one row a line, as JSONL' },
        { place: { file } },
      );
  }
  const read = readJson(text);
  if ('what' in read) throw problem('E103', { what: `this is not JSON: ${read.what}` }, { place: { file } });
  const columns = isRow(read.value) ? Object.entries(read.value) : [];
  const rows = new Map<string, Record<string, unknown>>();
  for (const [name, values] of columns) {
    if (typeof values !== 'object' || values === null)
      throw problem('E103', { what: `the column "${name}" is no object and no list` }, { place: { file } });
    for (const [row, value] of Object.entries(values)) {
      const members = rows.get(row) ?? {};
      members[name] = value;
      rows.set(row, members);
    }
  }
  for (const row of rows.values()) yield { text: canonical(row), line: 1, column: 1 };
}

type JsonRow = Readonly<Record<string, unknown>>;
/** A row without its wrapped object still has the values by which a condition leaves it out. */
type ReadPiece = { readonly values: JsonRow; readonly fault?: RecordFault } | { readonly fault: RecordFault };

const isRow = (value: unknown): value is JsonRow =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);

/** The paths that options name. */
export const pathsIn = ({ map, set, drop, keyColumn, gpuColumn }: SheetOptions): readonly string[] =>
  [
    ...Object.values(map),
    ...drop,
    ...Object.values(set).flatMap((text) =>
      [...text.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name.trim()),
    ),
    keyColumn ?? '',
    gpuColumn ?? '',
  ].filter((name) => name.includes('.'));

/** The value at a path; numbers count the elements of a list from 0. */
function valueAt(values: JsonRow, path: string): unknown {
  let value: unknown = values;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || isRawNumber(value) || !Object.hasOwn(value, name))
      return undefined;
    value = (value as JsonRow)[name];
  }
  return value;
}

/** The row with the members of its object `wrapping` instead of the object. */
function withoutWrapping(values: JsonRow, wrapping: string | undefined, at: Spot): ReadPiece {
  const inner = wrapping === undefined || !Object.hasOwn(values, wrapping) ? undefined : values[wrapping];
  if (wrapping === undefined) return { values };
  // A row without its inputs would run with the deployment's defaults.
  if (!isRow(inner)) {
    const what = `the row has no object "${wrapping}", in which the others have their inputs`;
    return { values, fault: { line: at.line, column: at.column, what } };
  }
  const { [wrapping]: _, ...outer } = values;
  const both = Object.keys(inner).find((name) => Object.hasOwn(outer, name));
  if (both === undefined) return { values: { ...outer, ...inner } };
  const what = `the row has "${both}" beside "${wrapping}" and in it`;
  return {
    fault: { line: at.line, column: at.column, what, hint: 'leave out --unwrap, and name paths: --map' },
  };
}
