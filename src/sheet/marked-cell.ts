// Why a cell of a workbook has no value that may be sent.

import type { Kind } from './parse-cell.ts';
import type { CellMark } from './xlsx/cell-value.ts';

export type MarkFault = { readonly what: string; readonly hint: string };

const FAULTS: Readonly<Partial<Record<CellMark['is'], MarkFault>>> = {
  error: { what: 'an error of Excel', hint: 'correct the formula, or enter the value' },
  uncalculated: {
    what: 'a formula without a value',
    hint: 'open the workbook in Excel or LibreOffice, which calculates it, and save it',
  },
  inexact: {
    what: 'a number of more than 15 digits, and Excel has replaced the others with zeros',
    hint: 'format the column as text, then enter the numbers again',
  },
};

const DATE: MarkFault = {
  what: 'a date, not a number',
  hint: 'format the cell as a number, and enter it again',
};

/** Why a cell cannot provide a value of this kind; undefined if it can. */
export function markFault(mark: CellMark | undefined, kind: Kind): MarkFault | undefined {
  if (mark === undefined) return undefined;
  if (mark.is === 'date') return kind === 'int' || kind === 'float' ? DATE : undefined;
  return FAULTS[mark.is];
}
