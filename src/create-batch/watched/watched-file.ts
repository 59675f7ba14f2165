// The file in the folder of a batch that follows a sheet (run --watch): which sheet, and what it asks of rows without an outcome, if
// that is no longer what their places would send. Each save replaces it.

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { jsonIn } from '../../errors/outside-text.ts';
import type { Store } from '../../store/store.ts';

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

export const readWatchedText = (store: Store): Promise<string | undefined> => store.read(WATCHED_FILE);

export const watchedIn = (text: string): WatchedFile | undefined => schema.safeParse(jsonIn(text)).data;
