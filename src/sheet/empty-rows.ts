// Recognises rows that would send nothing of their own: rows without any input, and repeated headers.

import type { ColumnMapping } from './column-mapping.ts';
import { cellText, type SheetRecord } from './sheet-record.ts';

/** The columns that fill inputs, alone or in a template. */
export function sentColumns({ feeds }: ColumnMapping): readonly number[] {
  const parts = feeds.flatMap(({ from }) => ('template' in from ? from.template : []));
  const templated = parts.filter((part) => typeof part === 'number');
  return [...feeds.flatMap(({ from }) => ('column' in from ? [from.column] : [])), ...new Set(templated)];
}

/** The values of a grid are in every row. */
export function isWithoutInput(
  { nothings }: Pick<ColumnMapping, 'nothings'>,
  sent: readonly number[],
  { cells, marks, own = Number.POSITIVE_INFINITY }: SheetRecord,
): boolean {
  const isEmpty = (column: number): boolean => {
    const text = cellText(cells[column]).trim();
    return (text === '' || nothings.has(text)) && !marks?.has(column);
  };
  const ofSheet = sent.filter((column) => column < own);
  return ofSheet.length > 0 && ofSheet.every(isEmpty);
}

export const repeatsHeader = (
  { columns }: Pick<ColumnMapping, 'columns'>,
  cells: readonly string[],
): boolean => columns.every(({ name }, at) => cells[at]?.trim() === name);
