// A FIFO queue whose entries can also be removed from the middle. Every operation is amortized O(1): a removed entry leaves a
// gap that is skipped once, and the served half of the array is cut off from time to time.
//
//      served      head
//   [ · · · · · |  C   ·   E   F ]
//     0 1 2 3 4    5   6   7   8     place = index + offset

export class FifoQueue<Key, Item> {
  #places: ({ readonly key: Key; readonly item: Item } | undefined)[] = [];
  #placeOf = new Map<Key, number>();
  #head = 0;
  #offset = 0;

  get size(): number {
    return this.#placeOf.size;
  }

  /** The next entry; undefined if the queue is empty. */
  get first(): Item | undefined {
    while (this.#head < this.#places.length && this.#places[this.#head] === undefined) this.#head++;
    return this.#places[this.#head]?.item;
  }

  join(key: Key, item: Item): void {
    this.#placeOf.set(key, this.#places.length + this.#offset);
    this.#places.push({ key, item });
  }

  /** Removes and returns the first entry; undefined if the queue is empty. */
  next(): Item | undefined {
    const item = this.first;
    const place = this.#places[this.#head];
    if (place === undefined) return undefined;
    this.#placeOf.delete(place.key);
    this.#places[this.#head++] = undefined;
    this.#cutServed();
    return item;
  }

  /** Removes `key`; returns whether it was in the queue. */
  leave(key: Key): boolean {
    const place = this.#placeOf.get(key);
    if (place === undefined) return false;
    this.#placeOf.delete(key);
    this.#places[place - this.#offset] = undefined;
    return true;
  }

  #cutServed(): void {
    if (this.#head < 64 || this.#head * 2 < this.#places.length) return;
    this.#places = this.#places.slice(this.#head);
    this.#offset += this.#head;
    this.#head = 0;
  }
}
