// An LRU cache of parsed files, bounded by number and by bytes of text, because a page of long rows is a thousand
// times as large as a page of short ones.

import { outsideCalls } from '../host/call-signal.ts';

/** A file's parsed content, and the bytes of its text. */
export type Parsed<T> = { readonly value: T; readonly bytes: number };

type CachedFile<T> = { readonly value: Promise<T>; bytes: number };

/** Returns the content of `name`, from the cache or from `read`. Concurrent callers share one read. */
type RecentlyRead<T> = (name: string, read: () => Promise<Parsed<T>>) => Promise<T>;

export function recentlyRead<T>(most: number, mostBytes: number): RecentlyRead<T> {
  /** The cached files, least recently used first. */
  const entries = new Map<string, CachedFile<T>>();
  /** The bytes of all entries, so that a call takes the same time however many there are. */
  let sum = 0;
  /** Keeps the most recently used entry, however large it is. */
  const shrink = (): void => {
    for (const [name, entry] of entries) {
      const fits = entries.size <= most && sum <= mostBytes;
      if (fits || entries.size === 1) return;
      entries.delete(name);
      sum -= entry.bytes;
    }
  };
  const begin = (name: string, read: () => Promise<Parsed<T>>): CachedFile<T> => {
    const reading = outsideCalls(read);
    const entry: CachedFile<T> = { value: reading.then(({ value }) => value), bytes: 0 };
    reading.then(
      ({ bytes }) => {
        if (entries.get(name) !== entry) return;
        entry.bytes = bytes;
        sum += bytes;
        shrink();
      },
      // A failed read is not cached: the file may exist the next time.
      () => {
        if (entries.get(name) === entry) entries.delete(name);
      },
    );
    return entry;
  };
  return (name, read) => {
    const entry = entries.get(name) ?? begin(name, read);
    entries.delete(name);
    entries.set(name, entry);
    shrink();
    return entry.value;
  };
}
