// Rows about which a question would be open: a template lacks a cell, or a cell has a word that may stand for nothing. Where nobody can
// be asked and bad rows are skipped, such a row alone is refused, and the others run.

import { problem, type RunsheetError } from '../errors/error.ts';
import type { ColumnMapping } from './column-mapping.ts';
import { isNumeric, NOTHING_WORDS } from './parse-cell.ts';
import { placeOfCell } from './row-reader.ts';
import { cellText, type SheetRecord } from './sheet-record.ts';
import { columnsIn } from './templates.ts';

/** A cell of such a row, and the question about it. */
type OddCell = { readonly column: number; readonly what: string };

export type OddCells = (record: SheetRecord) => OddCell | undefined;

export function oddCellsOf({ feeds, columns, nothings }: ColumnMapping): OddCells {
  const nameOf = (column: number): string => columns[column]?.name ?? '';
  const needed = feeds.flatMap(({ input, from }) =>
    'template' in from && from.template.length > 1
      ? columnsIn(from.template, { isNeeded: true }).map((column) => ({ column, input }))
      : [],
  );
  const sent = feeds.flatMap(({ from, kind, type }) => {
    const choices = type?.options?.map((option) => option.toLowerCase()) ?? [];
    const at = 'column' in from ? [from.column] : 'template' in from ? columnsIn(from.template) : [];
    return at.map((column) => ({ column, choices, isNumber: isNumeric(kind) }));
  });
  return ({ cells, marks }) => {
    for (const { column, choices, isNumber } of sent) {
      const text = cellText(cells[column]).trim();
      const word = text.toLowerCase();
      const isNothing = NOTHING_WORDS.has(word) || (isNumber && word === 'random');
      if (isNothing && !choices.includes(word) && !nothings.has(text))
        return { column, what: `"${text}" in column "${nameOf(column)}" may mean an empty cell` };
    }
    for (const { column, input } of needed) {
      const text = cellText(cells[column]).trim();
      if ((text === '' || nothings.has(text)) && marks?.has(column) !== true)
        return { column, what: `the text of ${input} lacks "${nameOf(column)}"` };
    }
    return undefined;
  };
}

/** The error of the row. */
export function oddRow(
  plan: ColumnMapping,
  record: SheetRecord,
  row: number,
  { column, what }: OddCell,
): RunsheetError {
  return problem('E112', { what }, { place: placeOfCell(plan, record, row, column) });
}
