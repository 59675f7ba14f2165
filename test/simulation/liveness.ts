// R30: a batch that has work, and nothing in flight that can end, shows a pause or a reason within a minute. It looks at what the
// batch has published, because nobody sees more.

import { progress, type Progress } from '../../src/batch/shown/progress.ts';
import type { SimBatch } from './batch.ts';

const LOOK_MS = 5_000;
/** A minute, and what an outage of Temporal or a signal that is late may add. */
const SILENT_MS = 100_000;

/** Looks at the batch until it is over. */
export function watchLiveness(batch: SimBatch): void {
  const { world } = batch;
  let seen = '';
  let since = world.now;
  const look = (): void => {
    const now = progress(batch.state);
    const counts = `${batch.generation} ${countsOf(now)}`;
    const { phases, overdue, finished } = batch.state;
    const mayEnd = phases.sending + phases.running > overdue.size;
    if (!batch.isRunning || finished || mayEnd || counts !== seen) [seen, since] = [counts, world.now];
    else if (world.now - since > SILENT_MS) check(batch);
    if (!batch.isOver) world.after(LOOK_MS, look);
  };
  world.after(LOOK_MS, look);
}

function check({ world, shown, mark, state }: SimBatch): void {
  const why = shown?.pauses[0]?.kind ?? shown?.reason;
  world.saw(`stood still: ${why === undefined ? 'no reason' : nameOf(shown, why)}`);
  world.claim(
    why !== undefined,
    () =>
      `batch ${mark} stands still without a reason: ${JSON.stringify(state.phases)} ${countsOf(progress(state))}`,
  );
}

/** Reasons differ by numbers. */
const nameOf = (shown: Progress | undefined, why: string): string =>
  shown?.pauses[0] === undefined ? why.replaceAll(/\d+/g, 'n').slice(0, 60) : `paused ${why}`;

const countsOf = ({ done, collecting, sending, running, unconfirmed, retrying, unsent }: Progress): string =>
  [done, collecting, sending, running, unconfirmed, retrying, unsent].join(' ');
