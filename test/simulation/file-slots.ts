// Simulates the slots of the activities that fetch files, which all batches of a world share, and hosts that trickle. A slot is
// held until its files are fetched, or found to be too slow, or its worker is lost.

import type { Try } from './temporal.ts';
import type { World } from './world.ts';

type Holder = { readonly attempt: Try; isOver: boolean };

const HELD = new WeakMap<World, Holder[]>();
const AGAIN_MS = 200;
/** A transfer that is too slow ends after a minute (src/host/http/download.ts). */
const SLOW_MS = { least: 5_000, most: 75_000 };

/** Fetches as soon as a slot is free; `isSlow`: the host trickles, and the files are given up. */
export function withFileSlot(
  world: World,
  attempt: Try,
  fetch: (isSlow: boolean, over: () => void) => void,
): void {
  const held = (HELD.get(world) ?? []).filter(({ isOver, attempt: { worker, isAbandoned } }) => {
    return !isOver && !worker.isDead && !isAbandoned();
  });
  HELD.set(world, held);
  if (held.length >= (world.plan.fileSlots ?? Number.POSITIVE_INFINITY)) {
    world.saw('waited for a slot for files');
    return attempt.worker.after(AGAIN_MS, () => withFileSlot(world, attempt, fetch));
  }
  const own = { attempt, isOver: false };
  held.push(own);
  const over = (): void => void (own.isOver = true);
  if (!world.shouldInject('slowHost')) return fetch(false, over);
  attempt.worker.after(world.between(SLOW_MS.least, SLOW_MS.most), () => fetch(true, over));
}
