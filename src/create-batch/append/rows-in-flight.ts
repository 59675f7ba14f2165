import { recordsOf } from '../../results/batch-rows.ts';
import type { Queued } from '../../sheet/placed-rows.ts';
import { layoutOf, type BatchFile } from '../../store/batch-file.ts';
import { FIRST_PASS, readSegments } from '../../store/passes.ts';
import type { Store } from '../../store/store.ts';
import { hasPlace, placesIn } from '../watched/sheet-places.ts';

/** Rows that passes after `ended` send, and that have no new record yet: as they were asked. */
export async function rowsInFlight(
  { store, file }: { readonly store: Store; readonly file: BatchFile },
  ended: number | undefined,
  newest: number,
): Promise<ReadonlyMap<number, Queued>> {
  const segments = await readSegments(store, ended ?? FIRST_PASS, newest);
  const rows = new Map<number, Queued>();
  if (segments.length === 0) return rows;
  const done = new Set<number>();
  for await (const { place } of recordsOf(store)) if (hasPlace(segments, place)) done.add(place);
  for (const segment of segments)
    for await (const { place, queued } of placesIn(layoutOf(store, file), segment))
      if (!done.has(place)) rows.set(queued.row, queued);
  return rows;
}
