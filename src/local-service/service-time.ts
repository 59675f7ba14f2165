// Time as the service sees it. Everything that waits asks a Clock, so that a clock of numbers can stand in for it.

import { TimerQueue } from './timer-queue.ts';

/** Times are milliseconds since 1970. `at` returns what calls the work off; a time that is past is due at once. */
export type Clock = { now(): number; at(timeMs: number, work: () => void): () => void };

/** A clock that waits in real time. Nothing is due before `open` and after `close`. */
export type WallClock = Clock & { open(): void; close(): void };

// What is due beyond this waits for the next turn of the event loop, so that requests are answered in between.
const TURN_MAX = 500;
// setTimeout takes 31 bits and fires at once beyond.
const WAIT_MAX_MS = 2 ** 31 - 1;

/** `turn` is called with all that is due at one moment, so that it can be written in one transaction. */
export function createWallClock(turn: (work: () => void) => void): WallClock {
  const agenda = new TimerQueue();
  let timer: { readonly atMs: number; stop(): void } | undefined;
  let state: 'unopened' | 'open' | 'closed' = 'unopened';

  function arm(): void {
    const nextMs = agenda.nextMs;
    if (state !== 'open' || nextMs === undefined || (timer !== undefined && timer.atMs <= nextMs)) return;
    timer?.stop();
    const handle = setTimeout(fire, Math.min(Math.max(nextMs - Date.now(), 0), WAIT_MAX_MS));
    timer = { atMs: nextMs, stop: () => clearTimeout(handle) };
  }

  function fire(): void {
    timer = undefined;
    turn(() => {
      const nowMs = Date.now();
      for (let done = 0; done < TURN_MAX; done++) {
        const work = agenda.takeDue(nowMs);
        if (work === undefined) return;
        work();
      }
    });
    arm();
  }

  return {
    now: () => Date.now(),
    at(timeMs, work) {
      const cancel = agenda.enter(timeMs, work);
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
      agenda.clear();
    },
  };
}
