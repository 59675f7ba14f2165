// The timers that wake a batch or a pool.

import type { Event } from '../src/batch/events.ts';
import type { BatchRuntime } from './batch-runtime.ts';

export type Wake = (afterMs: number) => Promise<Event | undefined>;

/** Starts no timer if an earlier one is pending: when that fires, the batch asks again. Cancelling timers costs as many events. */
export function createTimers(runtime: Pick<BatchRuntime, 'now' | 'sleep'>): Wake {
  const timers = new Set<number>();
  return async (afterMs) => {
    const now = runtime.now();
    const at = now + afterMs;
    // A timer whose time has passed fires late because the clock was set back; do not wait for it.
    if ([...timers].some((time) => time > now && time <= at)) return undefined;
    timers.add(at);
    await runtime.sleep(Math.max(1, afterMs));
    timers.delete(at);
    return { type: 'woke' };
  };
}
