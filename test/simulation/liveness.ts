// R30: a batch that has work, and nothing in flight that can end, shows a pause or a reason within a minute of Temporal's time, by
// which its timers run. Only what the batch has published counts, because that is what people see.

import { progress, type Progress } from '../../src/batch/shown/progress.ts';
import type { SimExecution } from './execution.ts';

const LOOK_MS = 5_000;
/** A minute, and what an outage of Temporal or a signal that is late may add. */
const SILENT_MS = 100_000;

/** Looks at the batch until its execution has ended. */
export function watchLiveness(execution: SimExecution): void {
  const { world, temporal } = execution;
  let seen = '';
  let stillMs = 0;
  // Timers of a clock that was set back wait until it shows again what it had shown; one that is set forward lets them fire.
  let latest = temporal.clock.latest;
  const look = (): void => {
    const now = progress(execution.state);
    const { phases, overdue, finished, pass, nextGroup, nextPart } = execution.state;
    // A pass may be sent and end between two looks.
    const counts = `${execution.generation} ${pass} ${nextGroup} ${nextPart} ${countsOf(now)}`;
    const mayEnd = phases.sending + phases.running > overdue.size;
    if (!execution.isRunning || execution.stack.isOff || finished || mayEnd || counts !== seen)
      [seen, stillMs] = [counts, 0];
    else if (stillMs > SILENT_MS) check(execution);
    stillMs += Math.max(0, Math.min(LOOK_MS, temporal.clock.now - latest));
    latest = temporal.clock.latest;
    if (execution.isRunning && !execution.batch.isOver) world.after(LOOK_MS, look);
  };
  world.after(LOOK_MS, look);
}

function check({ world, shown, mark, state }: SimExecution): void {
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
