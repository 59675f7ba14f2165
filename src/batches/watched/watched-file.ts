// The file in the folder of a batch that follows a sheet (run --watch). It names the sheet, and holds a wish for each row without an
// outcome whose queued request is out of date. Each save replaces the file.

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { jsonIn } from '../../errors/outside-text.ts';
import type { Store } from '../../store/store.ts';

const WATCHED_FILE = 'watched.json';

const schema = z.object({
  sheet: z.string(),
  deployment: z.string(),
  /** The wished request's hash by row number; empty if the sheet no longer has the row. */
  rows: z.record(z.string(), z.string()),
  /** The places that sheets asked for up to this save. Only these may be left out, because people asked for the others. */
  places: z.array(z.object({ lane: z.number(), first: z.number(), count: z.number() })).readonly(),
});

export type PlaceRange = WatchedFile['places'][number];

type WatchedFile = z.infer<typeof schema>;

/** `saved` makes each file unique, even if the sheet returns to an earlier state. */
export const writeWatched = (store: Store, file: WatchedFile): Promise<void> =>
  store.update(WATCHED_FILE, () => `${JSON.stringify({ ...file, saved: randomUUID() })}\n`);

/** undefined if the batch follows no sheet. */
export async function readWatched(store: Store): Promise<WatchedFile | undefined> {
  const text = await readWatchedText(store);
  return text === undefined ? undefined : watchedIn(text);
}

export const readWatchedText = (store: Store): Promise<string | undefined> => store.read(WATCHED_FILE);

export const watchedIn = (text: string): WatchedFile | undefined => schema.safeParse(jsonIn(text)).data;
