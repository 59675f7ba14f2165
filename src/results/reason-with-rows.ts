// Names the rows that a reason is about. The workflow knows places; whatever shows a reason to people puts the rows beside it.

import { cacheRows } from '../sheet/placed-rows.ts';
import { layoutOf, type BatchFile } from '../store/batch-file.ts';
import type { Store } from '../store/store.ts';

type Reason = { readonly reason?: string; readonly places?: readonly number[] };

/** The same without places: its reason ends with numbers and keys of the rows. */
export async function reasonWithRows<R extends Reason>(
  store: Store,
  file: Pick<BatchFile, 'mark' | 'sheet'>,
  { places, ...reason }: R,
): Promise<Omit<R, 'places'>> {
  if (places === undefined || places.length === 0) return reason;
  // A store that is away must not hide the reason.
  const rows = await rowNames(store, file, places).catch(() => []);
  if (rows.length === 0) return reason;
  const noun = rows.length === 1 ? 'row' : rows.length === TEN ? 'among them rows' : 'rows';
  return { ...reason, reason: `${reason.reason ?? ''}: ${noun} ${rows.join(', ')}` };
}

const TEN = 10;

async function rowNames(store: Store, file: Pick<BatchFile, 'mark' | 'sheet'>, places: readonly number[]) {
  const rows = await cacheRows(TEN)(layoutOf(store, file), file.sheet, places);
  return places.flatMap((place) => {
    const found = rows.get(place);
    return found === undefined ? [] : [nameOf(found)];
  });
}

/** The key of a row without a key column is a hash, which says nothing. */
const nameOf = ({ row, key }: { readonly row: number; readonly key: string }): string =>
  /^[0-9a-f]{16}$/.test(key) ? String(row) : `${row} (${key})`;
