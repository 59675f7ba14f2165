// Refuses rows and keys that a batch does not have, so that a typing error does not end as "no row matches".

import { NearestName } from '../create-batch/from/picks.ts';
import { problem } from '../errors/error.ts';
import { readBatchSheet, sheetRows } from '../sheet/batch-sheet.ts';
import { layoutOf } from '../store/batch-file.ts';
import type { FoundBatch } from './batch-name.ts';

type Named = {
  readonly row?: readonly { readonly from: number; readonly to: number }[];
  readonly key?: readonly string[];
};

/** Throws E505 and E557. */
export async function refuseUnknownRows(
  { store, file, batch }: Pick<FoundBatch, 'store' | 'file' | 'batch'>,
  { row = [], key = [] }: Named,
): Promise<void> {
  const sheet = await readBatchSheet(store, file);
  const wrong = row.find(({ from }) => from > sheet.rows);
  if (wrong !== undefined) throw problem('E505', { batch, row: wrong.from, rows: sheet.rows });
  const rows = () => sheetRows(layoutOf(store, file), sheet, 1, sheet.rows);
  const unknown = new Set(key);
  if (unknown.size > 0) for await (const { row: one } of rows()) unknown.delete(one.key);
  const [first] = unknown;
  if (first === undefined) return;
  const nearest = new NearestName(first);
  for await (const { row: one } of rows()) nearest.add(one.key);
  throw problem('E557', { batch, keys: [...unknown], near: nearest.near });
}
