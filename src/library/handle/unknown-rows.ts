// Refuses rows and keys that a batch does not have, so that a typing error does not end as "no row matches".

import { NearestName } from '../../create-batch/from/picks.ts';
import { correctionOf, problem } from '../../errors/error.ts';
import { readBatchSheet, sheetRows } from '../../sheet/batch-sheet.ts';
import { layoutOf } from '../../store/batch-file.ts';
import type { FoundBatch } from './found-batch.ts';

type NamedRows = {
  readonly rows?: readonly (number | { readonly from: number; readonly to: number })[];
  readonly keys?: readonly string[];
};

/** Throws E505 and E557. */
export async function refuseUnknownRows(
  { store, file, batch }: Pick<FoundBatch, 'store' | 'file' | 'batch'>,
  { rows: wanted = [], keys = [] }: NamedRows,
): Promise<void> {
  const sheet = await readBatchSheet(store, file);
  const wrong = wanted
    .map((one) => (typeof one === 'number' ? one : one.from))
    .find((from) => from > sheet.rows);
  if (wrong !== undefined) throw problem('E505', { batch, row: wrong, rows: sheet.rows });
  const rows = () => sheetRows(layoutOf(store, file), sheet, 1, sheet.rows);
  const unknown = new Set(keys);
  if (unknown.size > 0) for await (const { row: one } of rows()) unknown.delete(one.key);
  const [first] = unknown;
  if (first === undefined) return;
  const nearest = new NearestName(first);
  for await (const { row: one } of rows()) nearest.add(one.key);
  throw problem(
    'E557',
    { batch, keys: [...unknown], near: nearest.near },
    { correction: correctionOf(first, nearest.near) },
  );
}
