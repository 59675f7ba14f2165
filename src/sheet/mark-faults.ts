// Cells of a workbook that cannot provide a value: errors of formulas, dates for numbers, and pictures.

import { isNumeric, takesFiles, type CellKind } from './parse-cell.ts';
import type { CellMark } from './xlsx/cell-value.ts';

export type MarkFault = { readonly what: string; readonly hint: string };

export const FAULTS: Readonly<Partial<Record<NonNullable<CellMark['is']>, MarkFault>>> = {
  error: { what: 'an error of a formula', hint: 'correct the formula, or enter the value' },
  uncalculated: {
    what: 'a formula without a value',
    hint: 'open the workbook in Excel or LibreOffice, which calculates it, and save it',
  },
  inexact: {
    what: 'a number of more than 15 digits, some of which the workbook has lost',
    hint: 'format the column as text, then enter the numbers again',
  },
};

const DATE: MarkFault = {
  what: 'a date, not a number',
  hint: 'format the cell as a number, and enter it again',
};

const PICTURE: MarkFault = {
  what: 'a picture in the workbook itself',
  hint: 'save the pictures as files beside the sheet, and write their names into the cells',
};

/** Why a cell cannot provide a value of this kind; undefined if it can. */
export function markFault(mark: CellMark | undefined, kind: CellKind): MarkFault | undefined {
  if (mark === undefined) return undefined;
  if (takesFiles(kind) && mark.isPicture) return PICTURE;
  if (mark.is === 'date') return isNumeric(kind) ? DATE : undefined;
  return mark.is && FAULTS[mark.is];
}
