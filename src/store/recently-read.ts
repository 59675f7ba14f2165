// An LRU cache of parsed files. It is bounded by number and by bytes of text, because a page of long rows is a thousand times
// as large as one of short rows.

/** A file's parsed content, and the bytes of its text. */
export type Parsed<T> = { readonly value: T; readonly bytes: number };

type Entry<T> = { readonly value: Promise<T>; bytes: number };

export class RecentlyRead<T> {
  readonly #most: number;
  readonly #mostBytes: number;
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry<T>>();

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
    const reading = read();
    const entry: Entry<T> = { value: reading.then(({ value }) => value), bytes: 0 };
    reading.then(
      ({ bytes }) => {
        entry.bytes = bytes;
        this.#shrink();
      },
      // A failed read is not cached: the file may exist the next time.
      () => this.#entries.delete(name),
    );
    return entry;
  }

  /** Keeps the most recently used entry, however large it is. */
  #shrink(): void {
    let bytes = 0;
    for (const entry of this.#entries.values()) bytes += entry.bytes;
    for (const [name, entry] of this.#entries) {
      const fits = this.#entries.size <= this.#most && bytes <= this.#mostBytes;
      if (fits || this.#entries.size === 1) return;
      this.#entries.delete(name);
      bytes -= entry.bytes;
    }
  }
}
