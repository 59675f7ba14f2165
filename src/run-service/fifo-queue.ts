// A FIFO queue whose entries can also be removed from the middle. Every operation is amortized O(1): a Map
// keeps the order, and one long-lived iterator continues where it stopped, because a new one would skip all
// removed entries again.

export class FifoQueue<Key, Item> {
  readonly #items = new Map<Key, Item>();
  #rest = this.#items.entries();
  /** The entry at the iterator. */
  #head: readonly [Key, Item] | undefined;

  get size(): number {
    return this.#items.size;
  }

  /** The next entry; undefined if the queue is empty. */
  get first(): Item | undefined {
    this.#head ??= this.#rest.next().value;
    if (this.#head === undefined) {
      // An exhausted iterator stays exhausted, even after an insertion.
      this.#rest = this.#items.entries();
      this.#head = this.#rest.next().value;
    }
    return this.#head?.[1];
  }

  /** At most `most` entries from the front. */
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
