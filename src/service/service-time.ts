// The service's clock. Everything that waits uses a Clock, which tests can replace.

import { TimerQueue } from './timer-queue.ts';

/** Times are milliseconds since 1970. `at` returns a function that cancels the work; work in the past is due immediately. */
export type Clock = { now(): number; at(timeMs: number, work: () => void): () => void };

/** A clock in real time. It runs no work before `open` and after `close`. */
export type WallClock = Clock & { open(): void; close(): void };

// Under load, what becomes due within this time is stored in one transaction; the first after a pause is not delayed.
const GATHER_MS = 3;
// At most this much work per turn of the event loop, so that requests are answered in between.
const TURN_MAX = 500;
// setTimeout accepts 31 bits and fires immediately for larger delays.
const WAIT_MAX_MS = 2 ** 31 - 1;

/** `turn` is called with all work that is due at one time, so that one transaction can write it. */
export function createWallClock(turn: (work: () => void) => void): WallClock {
  const timers = new TimerQueue();
  let timer: { readonly atMs: number; stop(): void } | undefined;
  let firedMs = 0;
  let state: 'unopened' | 'open' | 'closed' = 'unopened';

  function arm(): void {
    const nextMs = timers.nextMs;
    if (state !== 'open' || nextMs === undefined || (timer !== undefined && timer.atMs <= nextMs)) return;
    timer?.stop();
    const nowMs = Date.now();
    // The clock may have been set back since.
    const dueMs = Math.max(nextMs, Math.min(firedMs, nowMs) + GATHER_MS);
    const handle = setTimeout(fire, Math.min(Math.max(dueMs - nowMs, 0), WAIT_MAX_MS));
    timer = { atMs: nextMs, stop: () => clearTimeout(handle) };
  }

  function fire(): void {
    timer = undefined;
    turn(() => {
      const nowMs = Date.now();
      firedMs = nowMs;
      for (let done = 0; done < TURN_MAX; done++) {
        const work = timers.takeDue(nowMs);
        if (work === undefined) return;
        work();
      }
    });
    arm();
  }

  return {
    now: () => Date.now(),
    at(timeMs, work) {
      const cancel = timers.enter(timeMs, work);
      arm();
      return cancel;
    },
    open() {
      state = 'open';
      arm();
    },
    close() {
      state = 'closed';
      timer?.stop();
      timers.clear();
    },
  };
}
