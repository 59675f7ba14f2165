// Finds the rows that a sheet adds to a batch, or changes in it, and that other batches have with the same inputs: what they have bought,
// or may still buy, would be bought a second time.

import { listBatchFolders } from '../../store/batch-folders.ts';
import type { SharedRows } from '../questions.ts';
import { findOverlap } from '../reuse/overlap.ts';
import type { FurtherSheet } from './append-rows.ts';
import type { Comparison } from './compare-rows.ts';

export async function paidElsewhere(
  out: string,
  { batch, laidOut: { rows, pages }, layout }: FurtherSheet,
  compared: Comparison,
): Promise<readonly SharedRows[]> {
  if (compared.appended + compared.changed === 0) return [];
  const others = (await listBatchFolders(out)).filter(({ file }) => file.mark !== batch.file.mark);
  const file = { ...batch.file, sheet: { ...batch.file.sheet, rows, pages } };
  const isSent = (row: number): boolean =>
    compared.numberOf(row) !== undefined || compared.againOf(row) !== undefined;
  using overlap = await findOverlap(others, { file, layout }, isSent);
  return [...overlap.done, ...overlap.open, ...overlap.unknown];
}
