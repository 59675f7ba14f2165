// The parts of Temporal that a batch's workflow needs. The workflow gets them from the SDK, and the simulator of the
// tests brings its own, so that both run the same loop.

import type { Event } from '../src/batch/events.ts';
import type { Usage } from '../src/batch/pool/messages.ts';
import type { Progress } from '../src/batch/shown/progress.ts';
import type { Snapshot } from '../src/batch/state/snapshot.ts';
import type { State } from '../src/batch/state/state.ts';
import type { BoundActivities } from './activities.ts';

export type Scope = {
  run<T>(work: () => Promise<T>): Promise<T>;
  cancel(): void;
};

export type BatchRuntime = {
  readonly activities: BoundActivities;
  now(): number;
  history(): { readonly historyLength: number; readonly continueAsNewSuggested: boolean };
  /** Resolves when `is` holds after the events of a workflow task were applied. */
  condition(is: () => boolean): Promise<void>;
  /** The same, but resolves with false after this time. */
  conditionWithin(is: () => boolean, ms: number): Promise<boolean>;
  sleep(ms: number): Promise<void>;
  /** Runs work that is not cancelled with the workflow. */
  nonCancellable<T>(work: () => Promise<T>): Promise<T>;
  openScope(): Scope;
  /** Calls `receive` with each signal, as an event, and `cancelled` when the workflow is cancelled. */
  listen(receive: (event: Event) => void, cancelled: () => void): void;
  /** Signals a report to a pool; rejects if it cannot be delivered. */
  signalPool(pool: string, usage: Usage): Promise<void>;
  publish(state: State): void;
  continueAsNew(next: Snapshot, shown: Progress): Promise<never>;
};

export type Wake = (afterMs: number) => Promise<Event | undefined>;

/**
 * Starts no timer if an earlier one is pending: when that one fires, the batch asks again. Cancelling timers costs as
 * many events.
 */
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
