// Writes the queue of a batch again before the batch exists: with other rows, or in another order.

import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { placeIn } from '../batch/state/lanes.ts';
import type { LaneSpec } from '../batch/params.ts';
import { LaneWriter, QUEUE_ROWS, readQueuePage, type Queued } from '../sheet/placed-rows.ts';
import type { LaidOut } from '../sheet/sheet.ts';
import { type Store, within } from '../store/store.ts';

type Draft = { readonly laidOut: LaidOut; readonly layout: Store };

/** The queue while it is written: the pages of the earlier one are still read. */
const NEW_QUEUE = 'new-queue';
const QUEUE = 'queue';

/** Returns the lanes that have rows. `orderOf`: the rows of a lane as they are to be sent. */
export async function rewriteQueue(
  { laidOut, layout }: Draft,
  orderOf: (rows: AsyncIterable<Queued>, lane: number) => AsyncIterable<Queued>,
): Promise<readonly LaneSpec[]> {
  const aside = within(layout, NEW_QUEUE);
  const lanes: LaneSpec[] = [];
  for (const [at, lane] of laidOut.lanes.entries()) {
    const writer = new LaneWriter(aside, lanes.length);
    let places = 0;
    for await (const queued of orderOf(queuedIn(layout, laidOut, at), at)) {
      places += 1;
      await writer.add(queued);
    }
    await writer.end();
    if (places > 0) lanes.push({ ...lane, places });
  }
  await rm(join(layout.location, QUEUE), { recursive: true, force: true });
  if (lanes.length > 0) await rename(join(aside.location, QUEUE), join(layout.location, QUEUE));
  await rm(aside.location, { recursive: true, force: true });
  return lanes;
}

export async function* queuedIn(
  layout: Store,
  { isQueued, lanes }: Pick<LaidOut, 'isQueued' | 'lanes'>,
  lane: number,
): AsyncGenerator<Queued> {
  const { places = 0 } = lanes[lane] ?? {};
  for (let number = 1; number <= places; number += QUEUE_ROWS)
    if (!isQueued) for (let row = number; row < number + QUEUE_ROWS && row <= places; row += 1) yield { row };
    else yield* (await readQueuePage(layout, placeIn(lane, number))).value;
}
