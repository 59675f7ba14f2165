// Guesses about a workbook: which of its sheets is meant, and whether rows count that Excel hides.

import { list } from '../../errors/error.ts';
import { NOTHING, type Part, toConfirm } from './guess.ts';
import { ownColumns } from '../result-columns.ts';
import type { SheetOptions } from '../sheet-options.ts';
import type { SheetSource } from '../sheet-source.ts';
import { sheetHead } from '../xlsx/unpacked-sheet.ts';

/** The sheet that is read, if others have values too. Results that runsheet exported have their rows in the first one. */
export async function sheetGuess(
  source: SheetSource,
  { format, sheet: wanted }: SheetOptions,
  names: readonly string[] = [],
): Promise<Part> {
  if (format !== 'xlsx' || wanted !== undefined || ownColumns(names).length < names.length) return NOTHING;
  const { sheet, others } = await sheetHead(source);
  if (others.length === 0) return NOTHING;
  const text = `sheet "${sheet}" is read (others: ${list(others.map((name) => `"${name}"`))})`;
  return { options: { sheet }, guesses: [toConfirm('rows', text, '--sheet', sheet)] };
}

export async function hiddenRows(source: SheetSource, options: SheetOptions): Promise<Part> {
  if (options.format !== 'xlsx' || options.hidden !== undefined) return NOTHING;
  const { hidden } = await sheetHead(source);
  if (hidden === 0) return NOTHING;
  const text = `${hidden} ${hidden === 1 ? 'row that Excel hides is' : 'rows that Excel hides are'} read too; to leave them out: --hidden skip`;
  return { options: { hidden: 'include' }, guesses: [toConfirm('rows', text, '--hidden', 'include')] };
}
