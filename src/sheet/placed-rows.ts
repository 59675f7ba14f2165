import { parseExactly } from '../batch/digits.ts';
import { RecentlyRead } from '../store/recently-read.ts';
import type { Store } from '../store/store.ts';
import { changedInputs } from './input-change.ts';
import { folderIn } from './batch-sheet.ts';
import { openPage, pageOf, type Page, type SheetRow } from './pages.ts';
import { queuedAt, queueNameOf, readQueuePage, rowAtOnce, type Layout, type Queued } from './queue.ts';

/** A row as one of its places sends it. */
export type PlacedRow = SheetRow & Pick<Queued, 'before' | 'change' | 'fetch'>;

/** More than two full pages are rarely in use at the same time. */
const PAGES_BYTES = 64 * 1024 * 1024;

/** Pages of 700,000 short rows fit in these bytes: a batch in random order needs another page for each row. */
const SCATTERED_PAGES = 4_000;

export type PlacedRows = (
  layout: Store,
  sheet: Layout,
  places: readonly number[],
) => Promise<ReadonlyMap<number, PlacedRow>>;

/**
 * Reads rows by place and keeps the `most` pages used last, because groups read a page one after another; of a batch
 * with a queue it keeps as many as fit. A page is kept as bytes, because each time only one of its rows may be needed.
 */
export function cacheRows(most: number, mostBytes: number = PAGES_BYTES): PlacedRows {
  const pages = new RecentlyRead<Page>(most, mostBytes);
  const scattered = new RecentlyRead<Page>(Math.max(most, SCATTERED_PAGES), mostBytes);
  const queues = new RecentlyRead<readonly Queued[]>(most, mostBytes);
  const queued = async (layout: Store, sheet: Layout, place: number): Promise<Queued | undefined> => {
    const row = rowAtOnce(sheet, place);
    if (row !== undefined) return { row };
    const page = await queues.get(`${layout.location} ${queueNameOf(place)}`, () =>
      readQueuePage(layout, place),
    );
    return queuedAt(page, place);
  };
  return async (layout, sheet, places) => {
    const found = new Map<number, PlacedRow>();
    for (const place of places) {
      const at = await queued(layout, sheet, place);
      if (at === undefined) continue;
      const page = pageOf(at.row);
      const from = folderIn(layout, at.in ?? '');
      const kept = sheet.isQueued ? scattered : pages;
      const opened = await kept.get(`${from.location} ${page}`, () => openPage(from, page));
      const line = opened.line(at.row);
      if (line === undefined) continue;
      const row = parseExactly(line) as SheetRow;
      found.set(place, { ...row, ...at, inputs: changedInputs(row.inputs, at.change) });
    }
    return found;
  };
}
