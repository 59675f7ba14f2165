// Reads JSON sheets: one object per line (JSONL), or one array of objects.

import { isRawNumber } from '../../batch/digits.ts';
import { problem, type RunsheetError } from '../../errors/error.ts';
import { elementsOf, type JsonPiece } from './json-array.ts';
import type { JsonFault } from './json-fault.ts';
import { readJson } from './json-text.ts';
import { Members } from './json-members.ts';
import type { SheetOptions } from '../sheet-options.ts';
import type { Column, RecordFault, SheetRecord } from '../sheet-record.ts';
import {
  firstOf,
  MOST_COLUMNS,
  MOST_RECORD,
  nameFault,
  shortened,
  spotIn,
  tooLong,
} from '../sheet-record.ts';
import type { SheetSource } from '../sheet-source.ts';
import { linesOf, textOf } from '../text/sheet-text.ts';

type Values = Readonly<Record<string, unknown>>;
type ReadPiece = { readonly values: Values } | { readonly fault: RecordFault };

/**
 * Every name that a row uses, in the order of first use. A JSON sheet has no header, so it is read once for its names and
 * once for its rows. Throws E104 if a name cannot be a column.
 */
export async function jsonColumns(source: SheetSource, options: SheetOptions): Promise<readonly Column[]> {
  const columns = new Map<string, Column>();
  let fault: RecordFault | undefined;
  for await (const piece of firstOf(piecesOf(source, options), options.limit)) {
    const read = readPiece(source, options, piece);
    if ('fault' in read) fault ??= read.fault;
    else addColumns(source.name, columns, piece, Object.keys(read.values));
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
  names: readonly string[],
): void {
  const fresh = names.filter((name) => !columns.has(name));
  if (fresh.length === 0) return;
  const members = new Members(piece, piece.text);
  const columnOf = (name: string): Column => {
    const { line, column } = members.get(name)?.name ?? piece;
    return { name, line, column };
  };
  const oneTooMany = fresh[MOST_COLUMNS - columns.size];
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
  for await (const piece of piecesOf(source, options)) {
    const { line, column, text } = piece;
    const read = readPiece(source, options, piece);
    const members = new Members(piece, text);
    if ('fault' in read) yield { line, column, members, cells: [], fault: read.fault };
    else yield { line, column, members, cells: columns.map((name) => valueOf(read.values, name)) };
  }
}

const valueOf = (values: Values, name: string): unknown =>
  Object.hasOwn(values, name) ? values[name] : undefined;

function piecesOf(source: SheetSource, options: SheetOptions): AsyncGenerator<JsonPiece> {
  const texts = textOf(source, options);
  return options.format === 'json' ? elementsOf(source.name, texts) : jsonLines(source.name, texts);
}

async function* jsonLines(file: string, texts: AsyncIterable<string>): AsyncGenerator<JsonPiece> {
  let line = 0;
  for await (const text of linesOf(texts, MOST_RECORD)) {
    line += 1;
    if (text.length > MOST_RECORD) throw tooLong({ file, line });
    if (text.trim() !== '') yield { text, line, column: 1 };
  }
}

function readPiece(source: SheetSource, options: SheetOptions, piece: JsonPiece): ReadPiece {
  const read = readJson(piece.text);
  if ('what' in read) return { fault: faultIn(source.name, options, piece, read) };
  if (isRow(read.value)) return { values: read.value };
  const what = `a row is a JSON object, and this is ${shortened(piece.text)}`;
  return { fault: { line: piece.line, column: piece.column, what } };
}

const isRow = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);

/** A malformed line affects its row only; a malformed array cannot be split into rows. */
function faultIn(file: string, options: SheetOptions, piece: JsonPiece, fault: JsonFault): RecordFault {
  const spot = spotIn(piece, piece.text, fault.at);
  const what = fault.malformed ? `this is not JSON: ${fault.what}` : `this row cannot be sent: ${fault.what}`;
  if (fault.malformed && options.format === 'json')
    throw problem('E103', { what }, { place: { file, ...spot } });
  return { ...spot, what };
}

function refuseName(file: string, { name, line, column }: Column): void {
  const fault = nameFault(name);
  const place = { file, line, column, columnName: shortened(name) };
  if (fault) throw problem('E104', { what: fault, hint: 'rename it' }, { place });
}

function tooManyNames(file: string, { name, line, column }: Column): RunsheetError {
  const what = `the rows use more than ${MOST_COLUMNS} different names`;
  const hint = 'each name in an object is a column; put values that differ between rows after the colon';
  return problem('E104', { what, hint }, { place: { file, line, column, columnName: shortened(name) } });
}
