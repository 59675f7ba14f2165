// Files of a batch as they were parsed, the most recently used ones: bounded by number and by the bytes of their text,
// because a page of long rows is a thousand times as large as one of short rows.

/** A file's content, and how many bytes its text has. */
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

  /** What `name` stands for, read by `read` where it is not here; callers that ask at the same time share one reading. */
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
      // A file that could not be read may be there the next time.
      () => this.#entries.delete(name),
    );
    return entry;
  }

  /** The most recently used entry stays, however large it is. */
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
