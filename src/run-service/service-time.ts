// The service's clock. Everything that waits uses a Clock, which tests can replace.

/** Times are milliseconds since 1970. `at` returns a function that cancels the work; work in the past is due immediately. */
export type Clock = { now(): number; at(timeMs: number, work: () => void): () => void };

/** A clock in real time. It runs no work before `open` and after `close`. */
export type WallClock = Clock & { open(): void; close(): void };

// Under load, work that falls due within this time shares one transaction; the first work after a pause is
// not delayed.
const GATHER_MS = 3;
// The most work per turn of the event loop, so that requests are answered in between.
const MAX_TURN = 500;
// setTimeout accepts 31 bits and fires immediately for larger delays.
const MAX_WAIT_MS = 2 ** 31 - 1;

/** `turn` gets all work that is due at one time, so that one transaction can write it. */
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
    const handle = setTimeout(fire, Math.min(Math.max(dueMs - nowMs, 0), MAX_WAIT_MS));
    timer = { atMs: nextMs, stop: () => clearTimeout(handle) };
  }

  function fire(): void {
    timer = undefined;
    turn(() => {
      const nowMs = Date.now();
      firedMs = nowMs;
      for (let done = 0; done < MAX_TURN; done++) {
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

type TimerEntry = { readonly atMs: number; work: (() => void) | undefined };

/** Work ordered by time, and by insertion for equal times. */
export class TimerQueue {
  /** Sorted from last to first, so that the next entry is popped from the end. */
  readonly #entries: TimerEntry[] = [];

  /** Adds `work`; returns a function that cancels it. */
  enter(atMs: number, work: () => void): () => void {
    const entry: TimerEntry = { atMs, work };
    this.#entries.splice(this.#placeOf(atMs), 0, entry);
    // A cancelled entry stays until its time and does nothing.
    return () => {
      entry.work = undefined;
    };
  }

  /** When the next entry is due; undefined if there is none. */
  get nextMs(): number | undefined {
    while (this.#entries.at(-1)?.work === undefined && this.#entries.length > 0) this.#entries.pop();
    return this.#entries.at(-1)?.atMs;
  }

  /** Removes the next entry that is due at `nowMs`; undefined if there is none. */
  takeDue(nowMs: number): (() => void) | undefined {
    const nextMs = this.nextMs;
    return nextMs === undefined || nextMs > nowMs ? undefined : this.#entries.pop()?.work;
  }

  clear(): void {
    this.#entries.length = 0;
  }

  /** The index of the first entry that is not due later. */
  #placeOf(atMs: number): number {
    let [from, to] = [0, this.#entries.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#entries[middle]?.atMs ?? 0) > atMs) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
