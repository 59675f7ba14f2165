// A clock whose time passes when a test says so.

import { TimerQueue } from '../../src/local-service/timer-queue.ts';
import type { Clock } from '../../src/local-service/service-time.ts';

export type HandClock = Clock & {
  /** Lets time pass up to `timeMs`, doing on the way what falls due. */
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
