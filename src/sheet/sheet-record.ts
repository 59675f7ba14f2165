// A row as it stands in the sheet, in any format, before its cells have a meaning.

import { type Spot, Cursor } from './text/sheet-text.ts';
import { type Correction, type SheetPlace, problem, type RunsheetError } from '../errors/error.ts';
import type { Members } from './json/json-text.ts';
import type { CellMark } from './xlsx/cell-value.ts';

/** Longest record, in characters (CSV: bytes): an unclosed quote must not read a whole sheet into memory. */
export const MAX_RECORD = 4 * 1024 * 1024;

/** A column and where the sheet first names it. */
export type Column = {
  readonly name: string;
  readonly line: number;
  readonly column: number;
  /** The address of its cell in a workbook. */
  readonly cell?: string;
  /** Whether the header gives the column no name, or a name already taken. */
  readonly isNameless?: true;
  readonly repeats?: string;
};

/** Why a record cannot be read as a row (E103). */
export type RecordFault = Spot & {
  readonly what: string;
  readonly hint?: string;
  readonly cell?: string;
  readonly correction?: Correction | undefined;
  /** Cells of the row beyond its header: whole ones, or parts of a text whose commas are not in quotes; and the first of them. */
  readonly surplus?: { readonly of: 'cells' | 'commas'; readonly first: string };
  /** Whether a line could not be read: it may hold a part of a row or several rows, so no command leaves it out. */
  readonly isLine?: true;
};

export type SheetRecord = Spot & {
  /** In the order of the columns. CSV: text, '' if empty. JSON: values, undefined if absent. */
  readonly cells: readonly unknown[];
  /** The places of its cells, in a JSON sheet. */
  readonly members?: Members;
  /** In a workbook: cells whose text is not all (by column, from 0). */
  readonly marks?: ReadonlyMap<number, CellMark>;
  /** Whether Excel hides the row. */
  readonly isHidden?: true;
  /** The raw text of a CSV record that spans lines. */
  readonly raw?: string;
  readonly fault?: RecordFault;
  /** For an expanded row: how many of its cells are the sheet's own, and the end of its key. */
  readonly own?: number;
  readonly keyEnd?: string;
  /**
   * Columns that have the value of the row above, columns that stay empty because their group
   * has no value for them or several files, and the column of the groups.
   */
  readonly fill?: {
    readonly filled: readonly number[];
    readonly left: readonly number[];
    readonly group: number | undefined;
  };
};

export function cellText(cell: unknown): string {
  if (typeof cell === 'string') return cell;
  return cell === undefined || cell === null ? '' : JSON.stringify(cell);
}

/** The place of the cell in column `index`, called `name`. */
export function spotOf(record: SheetRecord, index: number, name: string): Spot {
  if (record.members === undefined) return { line: record.line, column: index + 1 };
  return record.members.get(name)?.value ?? { line: record.line, column: record.column };
}

/** The place of character `at` in a text that begins at `start`. */
export function spotIn(start: Spot, text: string, at: number): Spot {
  const cursor = new Cursor(start.line, start.column);
  cursor.pass(text.slice(0, at));
  return { line: cursor.line, column: cursor.column };
}

/** The first `most` items, or all of them. */
export function firstOf<T>(items: AsyncIterable<T>, most: number | undefined): AsyncIterable<T> {
  return most === undefined ? items : taken(items, most);
}

async function* taken<T>(items: AsyncIterable<T>, most: number): AsyncGenerator<T> {
  if (most <= 0) return;
  let count = 0;
  for await (const item of items) {
    yield item;
    count += 1;
    if (count === most) return;
  }
}

const RESERVED: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** With more columns, the header most likely contains values. */
export const MAX_COLUMNS = 1000;

/** Names are repeated in batch.json, in messages and in every line of results.jsonl. */
export const MAX_NAME = 200;

/** Why a name cannot be a column or an input; undefined if it can. */
export function nameFault(name: string): string | undefined {
  if (name.trim() === '') return 'a column has no name';
  if (name.length > MAX_NAME)
    return `the name of a column is longer than ${MAX_NAME} characters: ${shortened(name)}`;
  if (RESERVED.has(name)) return `the column name ${name} is reserved`;
  if (!name.isWellFormed() || /\p{Cc}/u.test(name.replace(/[\r\n]/g, '')))
    return 'the name of a column contains control characters or invalid text';
  return undefined;
}

export function tooLong(place: SheetPlace): RunsheetError {
  const what = `the record that begins here is longer than ${MAX_RECORD / 1024 / 1024} MiB`;
  return problem('E103', { what, hint: 'pass large data by URL' }, { place });
}

export const MAX_SHOWN = 80;

export function shortened(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 1)}…` : text;
}
