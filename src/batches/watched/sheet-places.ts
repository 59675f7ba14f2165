// The places that the sheets of a batch asked for: those of the first pass, and of each pass that appended or changed rows. A retry is
// asked for by people, so a watched sheet neither undoes it nor leaves its places out.

import { placeIn } from '../../batch/state/lanes.ts';
import { queuedAt, readQueuePage, type Queued } from '../../sheet/placed-rows.ts';
import { layoutOf, type BatchFile } from '../../store/batch-file.ts';
import { FIRST_PASS, readPasses } from '../../store/passes.ts';
import type { Store } from '../../store/store.ts';
import type { PlaceRange } from './watched-file.ts';

export type SheetPlaces = {
  /** The places of these passes. */
  readonly places: readonly PlaceRange[];
  /** The last request for each row that a later sheet has changed. */
  readonly changed: ReadonlyMap<number, Queued>;
};

/** Reads the passes up to `newest`. */
export async function sheetPlaces(
  { store, file }: { readonly store: Store; readonly file: BatchFile },
  newest: number,
): Promise<SheetPlaces> {
  const appends = (await readPasses(store, FIRST_PASS, newest)).filter(({ kind }) => kind === 'append');
  const segments = appends.flatMap((pass) => pass.segments);
  const changed = new Map<number, Queued>();
  for (const segment of segments)
    if (segment.isNew !== true)
      for await (const { queued } of placesIn(layoutOf(store, file), segment))
        changed.set(queued.row, queued);
  const first = file.sheet.lanes.map(({ places }, lane) => ({ lane, first: 1, count: places }));
  const added = segments.map(({ lane, first: from, count }) => ({ lane, first: from, count }));
  return { places: [...first, ...added], changed };
}

/** The places of a segment of a pass, which has one page. */
export async function* placesIn(
  layout: Store,
  { lane, first, count }: PlaceRange,
): AsyncGenerator<{ readonly place: number; readonly queued: Queued }> {
  const { value: page } = await readQueuePage(layout, placeIn(lane, first));
  for (let number = first; number < first + count; number += 1) {
    const place = placeIn(lane, number);
    const queued = queuedAt(page, place);
    if (queued !== undefined) yield { place, queued };
  }
}

export const hasPlace = (ranges: readonly PlaceRange[], place: number): boolean =>
  ranges.some(({ lane, first, count }) => {
    const number = place - placeIn(lane, first);
    return number >= 0 && number < count;
  });
