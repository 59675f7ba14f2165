// A timer queue: a binary heap by time, and by order of insertion for equal times.

export type Entry = { readonly atMs: number; readonly order: number; work: (() => void) | undefined };

const before = (a: Entry, b: Entry): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);

export class TimerQueue {
  #heap: Entry[] = [];
  #order = 0;

  /** Adds `work`; returns a function that cancels it. */
  enter(atMs: number, work: () => void): () => void {
    const entry: Entry = { atMs, order: this.#order++, work };
    this.#heap.push(entry);
    this.#rise(this.#heap.length - 1);
    // Removal from the middle of a heap is slow, so a cancelled entry stays until its time and does nothing.
    return () => {
      entry.work = undefined;
    };
  }

  /** When the next entry is due; undefined if there is none. */
  get nextMs(): number | undefined {
    while (this.#heap[0] !== undefined && this.#heap[0].work === undefined) this.#takeTop();
    return this.#heap[0]?.atMs;
  }

  /** Removes the next entry that is due at `nowMs`; undefined if there is none. */
  takeDue(nowMs: number): (() => void) | undefined {
    const nextMs = this.nextMs;
    return nextMs === undefined || nextMs > nowMs ? undefined : this.#takeTop()?.work;
  }

  clear(): void {
    this.#heap = [];
  }

  #takeTop(): Entry | undefined {
    const top = this.#heap[0];
    const last = this.#heap.pop();
    if (last !== undefined && last !== top) {
      this.#heap[0] = last;
      this.#sink(0);
    }
    return top;
  }

  #rise(from: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#swapIfBefore(at, parent)) return;
      at = parent;
    }
  }

  #sink(from: number): void {
    let at = from;
    for (;;) {
      const child = this.#earlier(2 * at + 1, 2 * at + 2);
      if (!this.#swapIfBefore(child, at)) return;
      at = child;
    }
  }

  #earlier(left: number, right: number): number {
    const [a, b] = [this.#heap[left], this.#heap[right]];
    return a !== undefined && b !== undefined && before(b, a) ? right : left;
  }

  /** Swaps two places if the entry at `lower` is due before the one at `upper`. */
  #swapIfBefore(lower: number, upper: number): boolean {
    const [a, b] = [this.#heap[lower], this.#heap[upper]];
    if (a === undefined || b === undefined || !before(a, b)) return false;
    this.#heap[lower] = b;
    this.#heap[upper] = a;
    return true;
  }
}
