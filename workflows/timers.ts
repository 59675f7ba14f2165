// The timers that wake a batch.

import { sleep } from '@temporalio/workflow';
import type { Event } from '../src/batch/events.ts';

export type Wake = (afterMs: number) => Promise<Event | undefined>;

/** Starts no timer if an earlier one is pending: when that fires, the batch asks again. Cancelling timers costs as many events. */
export function createTimers(): Wake {
  const timers = new Set<number>();
  return async (afterMs) => {
    const now = Date.now();
    const at = now + afterMs;
    // A timer whose time has passed fires late because the clock was set back; do not wait for it.
    if ([...timers].some((time) => time > now && time <= at)) return undefined;
    timers.add(at);
    await sleep(Math.max(1, afterMs));
    timers.delete(at);
    return { type: 'woke' };
  };
}
