// One row of a sheet as it stands in the file, whatever the format, before anybody asks what its cells mean.

import { type Spot, Cursor } from './text/sheet-text.ts';
import { type Correction, type SheetPlace, problem, type RunsheetError } from '../errors/error.ts';
import type { Members } from './json/json-text.ts';
import type { CellMark } from './xlsx/cell-value.ts';

/** A record may be this long, in characters (CSV: bytes): a quote that never closes must not read a whole sheet into memory. */
export const MOST_RECORD = 4 * 1024 * 1024;

/** A column and where the sheet first names it. */
export type Column = {
  readonly name: string;
  readonly line: number;
  readonly column: number;
  /** The address of its cell in a workbook. */
  readonly cell?: string;
  /** Whether the header gives it no name; or the name that it shares with a column before it. */
  readonly isNameless?: true;
  readonly repeats?: string;
};

/** Why a record cannot be read as a row (E103). */
export type RecordFault = Spot & {
  readonly what: string;
  readonly hint?: string;
  readonly cell?: string;
  readonly correction?: Correction | undefined;
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
  /** Its text in a CSV, if it takes in line ends. */
  readonly raw?: string;
  readonly fault?: RecordFault;
  /** Of one of several rows that a row of the sheet becomes: how many of its cells are the sheet's own, and the end of its key. */
  readonly own?: number;
  readonly keyEnd?: string;
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
export function firstOf<T>(all: AsyncIterable<T>, most: number | undefined): AsyncIterable<T> {
  return most === undefined ? all : taken(all, most);
}

async function* taken<T>(all: AsyncIterable<T>, most: number): AsyncGenerator<T> {
  if (most <= 0) return;
  let count = 0;
  for await (const one of all) {
    yield one;
    count += 1;
    if (count === most) return;
  }
}

const RESERVED: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** A sheet with more columns most likely has values in its header. */
export const MOST_COLUMNS = 1000;

/** Names are repeated in batch.json, in messages and in every line of results.jsonl. */
export const MOST_NAME = 200;

/** Why a name cannot be a column or an input; undefined if it can. */
export function nameFault(name: string): string | undefined {
  if (name.trim() === '') return 'a column has no name';
  if (name.length > MOST_NAME)
    return `the name of a column is longer than ${MOST_NAME} characters: ${shortened(name)}`;
  if (RESERVED.has(name)) return `the column name ${name} is reserved`;
  if (!name.isWellFormed() || /\p{Cc}/u.test(name.replace(/[\r\n]/g, '')))
    return 'the name of a column contains control characters or invalid text';
  return undefined;
}

export function tooLong(place: SheetPlace): RunsheetError {
  const what = `the record that begins here is longer than ${MOST_RECORD / 1024 / 1024} MiB`;
  return problem('E103', { what, hint: 'pass large data by URL' }, { place });
}

export const MOST_SHOWN = 80;

export function shortened(text: string): string {
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN - 1)}…` : text;
}
