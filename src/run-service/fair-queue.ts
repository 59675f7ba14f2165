// A queue that serves owners round robin and the items of each owner in order, so that nobody waits for all
// the items of somebody else.

import { FifoQueue } from './fifo-queue.ts';
import { dealt, OwnerTurns } from './owner-turns.ts';

type Owned = { readonly owner: string };

export class FairQueue<Key, Item extends Owned> {
  /** Only owners with items, in the order in which they began to wait. */
  readonly #lines = new Map<string, FifoQueue<Key, Item>>();
  readonly #turns = new OwnerTurns();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The item that `next` would return; undefined if the queue is empty. */
  get first(): Item | undefined {
    return this.#inOrder()[0]?.first;
  }

  join(key: Key, item: Item): void {
    const line = this.#lines.get(item.owner) ?? new FifoQueue<Key, Item>();
    this.#lines.set(item.owner, line);
    line.join(key, item);
    this.#size += 1;
  }

  /** Removes and returns the first item; undefined if the queue is empty. */
  next(): Item | undefined {
    const [line] = this.#inOrder();
    const item = line?.next();
    if (item === undefined) return undefined;
    this.#turns.served(item.owner);
    this.#left(item);
    return item;
  }

  /** Removes `key` of this owner; returns whether it was in the queue. */
  leave(key: Key, { owner }: Owned): boolean {
    const isGone = this.#lines.get(owner)?.leave(key) === true;
    if (isGone) this.#left({ owner });
    return isGone;
  }

  /** At most `most` items, in the order in which they are served. */
  ahead(most: number): readonly Item[] {
    return dealt(
      this.#inOrder().map((line) => line.ahead(most)),
      most,
    );
  }

  #inOrder(): readonly FifoQueue<Key, Item>[] {
    const lines = [...this.#lines];
    return lines.toSorted(([a], [b]) => this.#turns.compare(a, b)).map(([, line]) => line);
  }

  #left({ owner }: Owned): void {
    this.#size -= 1;
    if (this.#lines.get(owner)?.size === 0) this.#lines.delete(owner);
  }
}
