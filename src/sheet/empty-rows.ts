// Recognises rows that would send nothing of their own: rows without any input, and repeated headers.

import type { ColumnMapping } from './column-mapping.ts';
import { cellIn, columnsIn } from './templates.ts';
import { cellText, type SheetRecord } from './sheet-record.ts';

/** The columns that templates take. */
export const templatedColumns = ({ feeds }: Pick<ColumnMapping, 'feeds'>): readonly number[] => [
  ...new Set(feeds.flatMap(({ from }) => ('template' in from ? columnsIn(from.template) : []))),
];

/** The mapping in which a template of one cell is its column: `--set 'text={Line}'`. */
export function withCells(mapping: ColumnMapping): ColumnMapping {
  const feeds = mapping.feeds.map((feed) => {
    const column = 'template' in feed.from ? cellIn(feed.from.template) : undefined;
    return column === undefined ? feed : { ...feed, from: { column } };
  });
  return { ...mapping, feeds };
}

/** The columns that fill inputs, alone or in a template. */
export function sentColumns({ feeds }: Pick<ColumnMapping, 'feeds'>): readonly number[] {
  return [
    ...feeds.flatMap(({ from }) => ('column' in from ? [from.column] : [])),
    ...templatedColumns({ feeds }),
  ];
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
