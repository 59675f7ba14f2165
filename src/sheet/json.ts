// Sheets of JSON: one object a line (JSONL), or one array of objects.

import { isRawNumber } from '../batch/digits.ts';
import { problem } from '../errors.ts';
import { elementsOf, type JsonPiece } from './json-array.ts';
import { type JsonFault, memberAt } from './json-fault.ts';
import { readJson } from './json-text.ts';
import type { SheetOptions } from './options.ts';
import type { Column, RecordFault, SheetRecord } from './record.ts';
import { firstOf, MOST_RECORD, nameFault, shortened, spotIn, tooLong } from './record.ts';
import type { SheetSource } from './source.ts';
import { linesOf, textOf } from './text.ts';

/** A sheet with more names than this has values where names belong. */
const MOST_COLUMNS = 1000;

type Members = Readonly<Record<string, unknown>>;
type ReadPiece = { readonly members: Members } | { readonly fault: RecordFault };

/**
 * Every name that a row uses, in the order of first use: a sheet of JSON has no header, so it is read once for its
 * names and once for its rows. Throws E104 where a name cannot be a column.
 */
export async function jsonColumns(source: SheetSource, options: SheetOptions): Promise<readonly Column[]> {
  const columns = new Map<string, Column>();
  let fault: RecordFault | undefined;
  for await (const piece of firstOf(piecesOf(source, options), options.limit)) {
    const read = readPiece(source, options, piece);
    if ('fault' in read) fault ??= read.fault;
    for (const name of 'members' in read ? Object.keys(read.members) : []) {
      if (columns.has(name)) continue;
      const column = { name, ...spotIn(piece, piece.text, memberAt(piece.text, name).name) };
      refuseName(source.name, column, columns.size);
      columns.set(name, column);
    }
  }
  // Without one readable row there is nothing to say about columns, and the reason is the first row's.
  if (columns.size === 0 && fault) {
    const { line, column, ...words } = fault;
    throw problem('E103', words, { place: { file: source.name, line, column } });
  }
  return [...columns.values()];
}

/** Every row, its cells in the order of `columns`. Throws E103 where an array is no JSON any more. */
export async function* jsonRecords(
  source: SheetSource,
  options: SheetOptions,
  columns: readonly string[],
): AsyncGenerator<SheetRecord> {
  for await (const piece of piecesOf(source, options)) {
    const { line, column, text } = piece;
    const read = readPiece(source, options, piece);
    if ('fault' in read) yield { line, column, json: text, cells: [], fault: read.fault };
    else yield { line, column, json: text, cells: columns.map((name) => memberOf(read.members, name)) };
  }
}

const memberOf = (members: Members, name: string): unknown =>
  Object.hasOwn(members, name) ? members[name] : undefined;

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
  if (isMembers(read.value)) return { members: read.value };
  const what = `a row is a JSON object, and this is ${shortened(piece.text)}`;
  return { fault: { line: piece.line, column: piece.column, what } };
}

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);

/** A line that is broken spoils its row only; an array that is broken cannot be cut into rows any more. */
function faultIn(file: string, options: SheetOptions, piece: JsonPiece, fault: JsonFault): RecordFault {
  const spot = spotIn(piece, piece.text, fault.at);
  const what = fault.malformed ? `this is not JSON: ${fault.what}` : `this row cannot be sent: ${fault.what}`;
  if (fault.malformed && options.format === 'json')
    throw problem('E103', { what }, { place: { file, ...spot } });
  return { ...spot, what };
}

function refuseName(file: string, column: Column, columns: number): void {
  const place = { file, line: column.line, column: column.column, columnName: column.name };
  const fault = nameFault(column.name);
  if (fault) throw problem('E104', { what: fault, hint: 'rename it' }, { place });
  const what = `the rows use more than ${MOST_COLUMNS} different names`;
  if (columns === MOST_COLUMNS) throw problem('E104', { what }, { place });
}
