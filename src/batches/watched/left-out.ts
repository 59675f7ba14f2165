// Leaves out queued rows that a later save of a watched sheet changed or deleted. The watching command rewrites its wishes at each save,
// and a worker reads them before it sends. A place whose request matches the wish is sent, and so is a place of a later pass or of a
// retry, so no wish has to be withdrawn.

import type { SheetRow } from '../../sheet/pages.ts';
import type { Store } from '../../store/store.ts';
import { requestHash } from '../request-hash.ts';
import { hasPlace } from './sheet-places.ts';
import { readWatchedText, watchedIn } from './watched-file.ts';

/** The reasons of rows that were left out. A later save that asks for such a row sends it. */
const LEFT_OUT = {
  changed: 'left out: the sheet was saved with other inputs before this row was sent',
  deleted: 'left out: the sheet was saved without this row before it was sent',
} as const;

const REASONS: ReadonlySet<string> = new Set(Object.values(LEFT_OUT));
export const isLeftOut = (reason: string | undefined): boolean => reason !== undefined && REASONS.has(reason);

/** The wish of a row that the sheet no longer has. */
export const DELETED = '';

export type Wishes = {
  /** The reason for leaving out a queued row; undefined if it may be sent. */
  againstSending(place: number, row: SheetRow, ownGpu: string | undefined): string | undefined;
};

/** Caches the last file that a worker read: every group of rows asks, and saves are rare. */
const lastRead = new WeakMap<
  Store,
  { readonly text: string; readonly wishes: Wishes; readonly at: number }
>();

/** How long to assume that a batch still follows no sheet, so that its groups read no file. */
const UNWATCHED_MS = 10_000;

export async function readWishes(store: Store): Promise<Wishes> {
  const last = lastRead.get(store);
  const at = performance.now();
  if (last?.text === '' && at - last.at < UNWATCHED_MS) return last.wishes;
  const text = (await readWatchedText(store)) ?? '';
  const wishes = last?.text === text ? last.wishes : wishesIn(text);
  lastRead.set(store, { text, wishes, at });
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
