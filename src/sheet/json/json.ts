// Reads JSON sheets: one object per line (JSONL), or one array of objects.

import { problem, type RunsheetError } from '../../errors/error.ts';
import { Cursor, type Spot, linesOf, textOf } from '../text/sheet-text.ts';
import {
  MOST_RECORD,
  tooLong,
  type Column,
  type RecordFault,
  type SheetRecord,
  firstOf,
  MOST_COLUMNS,
  nameFault,
  shortened,
  spotIn,
} from '../sheet-record.ts';
import { isRawNumber } from '../../batch/digits.ts';
import { type JsonFault, readJson, Members } from './json-text.ts';
import type { SheetOptions } from '../sheet-options.ts';
import type { SheetSource } from '../sheet-source.ts';

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

/** A piece of JSON text and where it begins. */
type JsonPiece = Spot & { readonly text: string };

/**
 * The elements of the array in `texts`. Outside strings it only counts brackets: an element ends at the first comma or ] outside all
 * inner brackets. Throws E103 if it is not an array, E104 if it is empty.
 */
async function* elementsOf(file: string, texts: AsyncIterable<string>): AsyncGenerator<JsonPiece> {
  const cutter = new Cutter(file);
  for await (const text of texts) yield* cutter.cut(text);
  yield* cutter.end();
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

class Cutter {
  readonly #file: string;
  readonly #cursor = new Cursor();
  #where: 'before' | 'inside' | 'behind' = 'before';
  #element = '';
  #start: Spot | undefined;
  #elements = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;

  constructor(file: string) {
    this.#file = file;
  }

  *cut(text: string): Generator<JsonPiece> {
    let at = this.#where === 'before' ? this.#enter(text) : 0;
    while (this.#where === 'inside' && at < text.length) {
      const end = this.#endOfElement(text, at);
      this.#take(text.slice(at, end));
      if (end < text.length) yield* this.#finish(text.charAt(end));
      at = end + 1;
    }
    if (this.#where === 'behind') this.#refuseRest(text.slice(at));
  }

  /** The rest at the end of the text is an error; a partial element explains it best when parsed. */
  *end(): Generator<JsonPiece> {
    const what = 'the sheet is empty';
    if (this.#where === 'before') throw problem('E104', { what }, { place: { file: this.#file } });
    if (this.#start) yield { text: this.#element, ...this.#start };
    if (this.#where === 'inside') throw this.#broken('the array is not closed: ] is missing at the end');
  }

  /** Skips the opening bracket and returns the index after it. */
  #enter(text: string): number {
    const lead = text.length - text.trimStart().length;
    this.#cursor.pass(text.slice(0, lead));
    if (lead === text.length) return lead;
    if (text[lead] !== '[') throw this.#notAnArray();
    this.#where = 'inside';
    this.#cursor.pass('[');
    return lead + 1;
  }

  /** The index of the comma or the bracket that ends the element, or the length of the text if it continues. */
  #endOfElement(text: string, from: number): number {
    for (let at = from; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (this.#escaped) this.#escaped = false;
      else if (this.#inString) {
        if (code === BACKSLASH) this.#escaped = true;
        else if (code === QUOTE) this.#inString = false;
      } else if (code === QUOTE) this.#inString = true;
      else if (OPENING.has(code)) this.#depth += 1;
      else if (this.#depth === 0 && (code === COMMA || CLOSING.has(code))) return at;
      else if (CLOSING.has(code)) this.#depth -= 1;
    }
    return text.length;
  }

  #take(part: string): void {
    const lead = this.#start ? 0 : part.length - part.trimStart().length;
    this.#cursor.pass(part.slice(0, lead));
    if (lead === part.length) return;
    this.#start ??= { line: this.#cursor.line, column: this.#cursor.column };
    this.#cursor.pass(part.slice(lead));
    this.#element += part.slice(lead);
    if (this.#element.length > MOST_RECORD) throw tooLong({ file: this.#file, ...this.#start });
  }

  *#finish(mark: string): Generator<JsonPiece> {
    if (mark === '}') throw this.#broken('expected a comma or ], found }');
    if (this.#start) yield { text: this.#element.trimEnd(), ...this.#start };
    else if (mark === ',' || this.#elements > 0) throw this.#broken(`expected a row, found ${mark}`);
    this.#elements += 1;
    this.#element = '';
    this.#start = undefined;
    this.#depth = 0;
    this.#cursor.pass(mark);
    if (mark === ']') this.#where = 'behind';
  }

  #refuseRest(text: string): void {
    const lead = text.length - text.trimStart().length;
    this.#cursor.pass(text.slice(0, lead));
    if (lead < text.length) throw this.#broken('unexpected text after the end of the array');
  }

  #notAnArray(): RunsheetError {
    const { line, column } = this.#cursor;
    const what = 'a JSON sheet must be an array of objects, but this one does not begin with [';
    const hint = 'if it has one object per line, it is JSONL: add --format jsonl';
    return problem('E103', { what, hint }, { place: { file: this.#file, line, column } });
  }

  #broken(what: string): RunsheetError {
    const { line, column } = this.#cursor;
    return problem('E103', { what }, { place: { file: this.#file, line, column } });
  }
}
