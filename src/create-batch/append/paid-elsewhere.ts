// Finds the rows that a sheet adds to a batch, or changes in it, and that other batches have with the same inputs: what they have bought,
// or may still buy, would be bought a second time.

import type { BatchFolder } from '../../store/batch-folders.ts';
import type { SharedRows } from '../questions.ts';
import { findOverlap, type NewRows } from '../reuse/overlap.ts';
import type { FurtherSheet } from './append-rows.ts';
import type { Comparison } from './compare-rows.ts';

export async function paidElsewhere(
  batches: readonly BatchFolder[],
  sheet: FurtherSheet,
  compared: Comparison,
): Promise<readonly SharedRows[]> {
  if (compared.appended + compared.changed === 0) return [];
  const others = batches.filter(({ file }) => file.mark !== sheet.batch.file.mark);
  using overlap = await findOverlap(others, rowsToSend(sheet, compared));
  return [...overlap.done, ...overlap.open, ...overlap.unknown];
}

export function rowsToSend(
  { batch: { file }, laidOut, layout }: FurtherSheet,
  compared: Comparison,
): NewRows {
  const { rows, pages } = laidOut;
  const isWanted = (row: number): boolean =>
    compared.numberOf(row) !== undefined || compared.againOf(row) !== undefined;
  return { file: { ...file, sheet: { ...file.sheet, rows, pages } }, layout, isWanted };
}
