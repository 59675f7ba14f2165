// Rows that a watched sheet no longer asks for as they are queued. The watching command writes its wishes anew for each save, and a
// worker reads them before it sends: a row that was changed or deleted before it was sent is left out. A place that asks for what the
// wish says is sent, and so is a place of a later pass or of a retry, so no wish has to be taken back.

import { hash, randomUUID } from 'node:crypto';
import { comparable } from '../../run-service/contract/file-inputs.ts';
import type { SheetRow } from '../../sheet/pages.ts';
import type { Store } from '../../store/store.ts';
import { jsonIn } from '../../errors/outside-text.ts';
import { z } from 'zod';
import { placeIn } from '../../batch/state/lanes.ts';
import { queuedAt, readQueuePage, type Queued } from '../../sheet/placed-rows.ts';
import { layoutOf, type BatchFile } from '../../store/batch-file.ts';
import { FIRST_PASS, readPasses } from '../../store/passes.ts';

/** The reasons of rows that were left out. When the sheet asks for such a row, it is sent. */
const LEFT_OUT = {
  changed: 'left out: the sheet was saved with other inputs before this row was sent',
  deleted: 'left out: the sheet was saved without this row before it was sent',
} as const;

const REASONS: ReadonlySet<string> = new Set(Object.values(LEFT_OUT));
export const isLeftOut = (reason: string | undefined): boolean => reason !== undefined && REASONS.has(reason);

/** The wish of a row that the sheet no longer has. */
export const DELETED = '';

export type Wishes = {
  /** Why a row must not be sent as it is queued. */
  againstSending(place: number, row: SheetRow, ownGpu: string | undefined): string | undefined;
};

/** What a row asks of the run service: rows with the same hash are the same, whatever their keys and their batches are. */
export const requestHash = (inputs: SheetRow['inputs'], gpu: string | undefined): string =>
  hash('sha256', `${gpu ?? ''}\n${comparable(JSON.stringify(inputs))}`, 'hex').slice(0, 32);

/** What a worker read last, because each group asks and saves are rare. */
const known = new WeakMap<Store, { readonly text: string; readonly wishes: Wishes; readonly at: number }>();

/** How long a batch that followed no sheet is taken for one that still follows none, so that its groups read no file. */
const UNWATCHED_MS = 10_000;

export async function readWishes(store: Store): Promise<Wishes> {
  const last = known.get(store);
  const at = performance.now();
  if (last?.text === '' && at - last.at < UNWATCHED_MS) return last.wishes;
  const text = (await readWatchedText(store)) ?? '';
  const wishes = last?.text === text ? last.wishes : wishesIn(text);
  known.set(store, { text, wishes, at });
  return wishes;
}

function wishesIn(text: string): Wishes {
  const watched = watchedIn(text);
  if (watched === undefined) return { againstSending: () => undefined };
  const { rows, places } = watched;
  return {
    againstSending: (place, row, ownGpu) => {
      const wish = rows[row.row];
      if (
        wish === undefined ||
        !hasPlace(places, place) ||
        wish === requestHash(row.inputs, row.gpu ?? ownGpu)
      )
        return undefined;
      return wish === DELETED ? LEFT_OUT.deleted : LEFT_OUT.changed;
    },
  };
}

// The file in the folder of a batch that follows a sheet (run --watch): which sheet, and what it asks of rows without an outcome, if
// that is no longer what their places would send. Each save replaces it.
const WATCHED_FILE = 'watched.json';

const schema = z.object({
  sheet: z.string(),
  deployment: z.string(),
  /** By row number: a hash of the request, or nothing if the sheet no longer has the row. */
  rows: z.record(z.string(), z.string()),
  /** The places that sheets have asked for until this save. Only these may be left out: people asked for all others later. */
  places: z.array(z.object({ lane: z.number(), first: z.number(), count: z.number() })).readonly(),
});

export type PlaceRange = WatchedFile['places'][number];

type WatchedFile = z.infer<typeof schema>;

/** `saved` makes it another file even if the sheet is as it was two saves before. */
export const writeWatched = (store: Store, file: WatchedFile): Promise<void> =>
  store.update(WATCHED_FILE, () => `${JSON.stringify({ ...file, saved: randomUUID() })}\n`);

/** undefined if the batch follows no sheet. */
export async function readWatched(store: Store): Promise<WatchedFile | undefined> {
  const text = await readWatchedText(store);
  return text === undefined ? undefined : watchedIn(text);
}

const readWatchedText = (store: Store): Promise<string | undefined> => store.read(WATCHED_FILE);

const watchedIn = (text: string): WatchedFile | undefined => schema.safeParse(jsonIn(text)).data;

// What the sheets of a batch have asked for: the first pass, and each pass that appended or changed rows. Passes that people asked for
// (retry) are none of the sheet's, so a sheet that is watched neither undoes them nor keeps their places from being sent.
export type SheetPlaces = {
  /** All places of these passes. */
  readonly places: readonly PlaceRange[];
  /** Rows that a later sheet has changed, as it asked for them last. */
  readonly changed: ReadonlyMap<number, Queued>;
};

/** Of the passes up to `newest`. */
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
