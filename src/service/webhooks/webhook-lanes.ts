// Limits concurrent webhook calls: each receiver has its own lane with a number of slots and a queue.

import { FifoQueue } from '../fifo-queue.ts';

type Lane<Item> = { readonly line: FifoQueue<Item, Item>; active: number };

/** Lanes by receiver; `send` is called with one item for each free slot and never rejects. */
export function createLanes<Item extends object>(facts: {
  readonly places: number;
  readonly receiverOf: (item: Item) => string;
  readonly send: (item: Item) => Promise<void>;
}) {
  const lanes = new Map<string, Lane<Item>>();

  function drive(receiver: string, lane: Lane<Item>): void {
    while (lane.active < facts.places && lane.line.size > 0) void sendNext(receiver, lane);
    if (lane.active === 0) lanes.delete(receiver);
  }

  async function sendNext(receiver: string, lane: Lane<Item>): Promise<void> {
    const item = lane.line.next();
    if (item === undefined) return;
    lane.active++;
    await facts.send(item);
    lane.active--;
    drive(receiver, lane);
  }

  return {
    join(item: Item): void {
      const receiver = facts.receiverOf(item);
      const lane = lanes.get(receiver) ?? { line: new FifoQueue<Item, Item>(), active: 0 };
      lanes.set(receiver, lane);
      lane.line.join(item, item);
      drive(receiver, lane);
    },
    /** How many items are queued in this item's lane. */
    waiting: (item: Item): number => lanes.get(facts.receiverOf(item))?.line.size ?? 0,
    clear(): void {
      for (const lane of lanes.values()) while (lane.line.next() !== undefined);
    },
  };
}
