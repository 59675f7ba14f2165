// A FIFO queue whose entries can also be removed from the middle. Every operation is amortized O(1): a Map keeps the order, and
// one iterator goes on where it stopped; a new one would skip all the entries that were removed before.

export class FifoQueue<Key, Item> {
  readonly #items = new Map<Key, Item>();
  #rest = this.#items.entries();
  /** The entry that the iterator is at. */
  #head: readonly [Key, Item] | undefined;

  get size(): number {
    return this.#items.size;
  }

  /** The next entry; undefined if the queue is empty. */
  get first(): Item | undefined {
    this.#head ??= this.#rest.next().value;
    if (this.#head === undefined) {
      // An iterator that has come to the end stays there.
      this.#rest = this.#items.entries();
      this.#head = this.#rest.next().value;
    }
    return this.#head?.[1];
  }

  /** The first entries, at most this many. */
  ahead(most: number): readonly Item[] {
    const items: Item[] = [];
    for (const item of this.#items.values()) {
      if (items.length === most) break;
      items.push(item);
    }
    return items;
  }

  join(key: Key, item: Item): void {
    this.#items.set(key, item);
  }

  /** Removes and returns the first entry; undefined if the queue is empty. */
  next(): Item | undefined {
    const item = this.first;
    if (this.#head !== undefined) this.leave(this.#head[0]);
    return item;
  }

  /** Removes `key`; returns whether it was in the queue. */
  leave(key: Key): boolean {
    if (this.#head?.[0] === key) this.#head = undefined;
    return this.#items.delete(key);
  }
}
