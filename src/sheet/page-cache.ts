import type { Store } from '../store/store.ts';
import { pageOf, readPage, type SheetRow } from './pages.ts';

type Page = ReadonlyMap<number, SheetRow>;

/** Reads rows by number, keeping the `most` pages that were used last: the groups of a page come one after another. */
export function cachePages(
  most: number,
): (store: Store, rows: readonly number[]) => Promise<ReadonlyMap<number, SheetRow>> {
  const kept = new Map<string, Promise<Page>>();

  const pageAt = (store: Store, page: number): Promise<Page> => {
    const name = `${store.location} ${page}`;
    const found = kept.get(name) ?? asMap(readPage(store, page));
    kept.delete(name);
    kept.set(name, found);
    // A page that could not be read may be there the next time.
    found.catch(() => kept.delete(name));
    const oldest = kept.size > most ? kept.keys().next().value : undefined;
    if (oldest !== undefined) kept.delete(oldest);
    return found;
  };

  return async (store, rows) => {
    const found = new Map<number, SheetRow>();
    for (const number of rows) {
      const row = (await pageAt(store, pageOf(number))).get(number);
      if (row !== undefined) found.set(number, row);
    }
    return found;
  };
}

async function asMap(page: Promise<readonly SheetRow[]>): Promise<Page> {
  return new Map((await page).map((row) => [row.row, row]));
}
