import { RecentlyRead, type Parsed } from '../store/recently-read.ts';
import type { Store } from '../store/store.ts';
import { pageOf, readSizedPage, type SheetRow } from './pages.ts';

type Page = ReadonlyMap<number, SheetRow>;

/** Parsed pages take two to three times their bytes; more than two full pages are rarely in use at the same time. */
const PAGES_BYTES = 64 * 1024 * 1024;

/** Reads rows by number and keeps the `most` pages used last, because groups read a page one after another. */
export function cachePages(
  most: number,
  mostBytes: number = PAGES_BYTES,
): (store: Store, rows: readonly number[]) => Promise<ReadonlyMap<number, SheetRow>> {
  const pages = new RecentlyRead<Page>(most, mostBytes);
  return async (store, rows) => {
    const found = new Map<number, SheetRow>();
    for (const number of rows) {
      const page = pageOf(number);
      const kept = await pages.get(`${store.location} ${page}`, () => pageAt(store, page));
      const row = kept.get(number);
      if (row !== undefined) found.set(number, row);
    }
    return found;
  };
}

async function pageAt(store: Store, page: number): Promise<Parsed<Page>> {
  const { rows, bytes } = await readSizedPage(store, page);
  return { value: new Map(rows.map((row) => [row.row, row])), bytes };
}
