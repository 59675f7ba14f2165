// A clock that the test advances.

import { TimerQueue } from '../../src/run-service/service-time.ts';
import type { Clock } from '../../src/run-service/service-time.ts';

export type HandClock = Clock & {
  /** Advances the clock to `timeMs`, and runs all due work. */
  to(timeMs: number): void;
};

export function createHandClock(): HandClock {
  const agenda = new TimerQueue();
  let nowMs = 0;
  return {
    now: () => nowMs,
    at: (timeMs, work) => agenda.enter(timeMs, work),
    to(timeMs) {
      for (let next = agenda.nextMs; next !== undefined && next <= timeMs; next = agenda.nextMs) {
        nowMs = Math.max(nowMs, next);
        agenda.takeDue(nowMs)?.();
      }
      nowMs = timeMs;
    },
  };
}
