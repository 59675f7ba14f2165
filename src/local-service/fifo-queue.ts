// A line of waiting things, first come first served, that anyone may leave from the middle. Every operation is O(1)
// over time: who leaves makes a gap, and gaps are skipped once; served places are cut off in halves.
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

  /** The one who is served next; undefined in an empty line. */
  get first(): Item | undefined {
    while (this.#head < this.#places.length && this.#places[this.#head] === undefined) this.#head++;
    return this.#places[this.#head]?.item;
  }

  join(key: Key, item: Item): void {
    this.#placeOf.set(key, this.#places.length + this.#offset);
    this.#places.push({ key, item });
  }

  /** Serves the first; undefined in an empty line. */
  next(): Item | undefined {
    const item = this.first;
    const place = this.#places[this.#head];
    if (place === undefined) return undefined;
    this.#placeOf.delete(place.key);
    this.#places[this.#head++] = undefined;
    this.#cutServed();
    return item;
  }

  /** Whether `key` stood in the line; it no longer does. */
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
