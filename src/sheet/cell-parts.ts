// Names a part of the cells in a column: `Images.0` is the first of the values that a cell of the column Images lists, `Images.1` the second.

import { valuesIn } from './grid/expanded-rows.ts';
import type { Feed } from './input-sources.ts';
import type { SheetRecord } from './sheet-record.ts';

const PART = /^(.+)\.(\d{1,3})$/s;

/** The column and the number in the name of a part; undefined if a column has that name, or no column is divided by it. */
export function partNamed(
  name: string,
  names: readonly string[],
): { readonly column: string; readonly part: number } | undefined {
  const [, column, part] = PART.exec(name) ?? [];
  if (column === undefined || names.includes(name) || !names.includes(column)) return undefined;
  return { column, part: Number(part) };
}

/** The column that the name takes its values from. */
export const wholeColumn = (name: string, names: readonly string[]): string =>
  partNamed(name, names)?.column ?? name;

type ColumnSource = Extract<Feed['from'], { readonly column: number }>;

/** The cell, or the part of it that is sent: undefined if the cell has no such part. */
export const valueFrom = ({ cells }: SheetRecord, { column, part }: ColumnSource): unknown =>
  part === undefined ? cells[column] : valuesIn(cells[column], false)[part];

/** The link of the cell, unless only a part of its text is sent. */
export const linkFrom = (record: SheetRecord, from: ColumnSource): string | undefined =>
  valueFrom(record, from) === record.cells[from.column] ? record.marks?.get(from.column)?.link : undefined;
