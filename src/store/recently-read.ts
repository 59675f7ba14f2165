// An LRU cache of parsed files. It is bounded by number and by bytes of text, because a page of long rows is a thousand times
// as large as one of short rows.

import { outsideCalls } from '../host/call-signal.ts';

/** A file's parsed content, and the bytes of its text. */
export type Parsed<T> = { readonly value: T; readonly bytes: number };

type Entry<T> = { readonly value: Promise<T>; bytes: number };

export class RecentlyRead<T> {
  readonly #most: number;
  readonly #mostBytes: number;
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry<T>>();
  /** Of all entries, so that a call takes the same time however many there are. */
  #bytes = 0;

  constructor(most: number, mostBytes: number) {
    this.#most = most;
    this.#mostBytes = mostBytes;
  }

  /** The content of `name`, from the cache or from `read`. Concurrent callers share one read. */
  get(name: string, read: () => Promise<Parsed<T>>): Promise<T> {
    const entry = this.#entries.get(name) ?? this.#begin(name, read);
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    this.#shrink();
    return entry.value;
  }

  #begin(name: string, read: () => Promise<Parsed<T>>): Entry<T> {
    const reading = outsideCalls(read);
    const entry: Entry<T> = { value: reading.then(({ value }) => value), bytes: 0 };
    reading.then(
      ({ bytes }) => {
        if (this.#entries.get(name) !== entry) return;
        entry.bytes = bytes;
        this.#bytes += bytes;
        this.#shrink();
      },
      // A failed read is not cached: the file may exist the next time.
      () => {
        if (this.#entries.get(name) === entry) this.#entries.delete(name);
      },
    );
    return entry;
  }

  /** Keeps the most recently used entry, however large it is. */
  #shrink(): void {
    for (const [name, entry] of this.#entries) {
      const fits = this.#entries.size <= this.#most && this.#bytes <= this.#mostBytes;
      if (fits || this.#entries.size === 1) return;
      this.#entries.delete(name);
      this.#bytes -= entry.bytes;
    }
  }
}
