// The clock of the local service where the clock of the machine is changed.

import { afterEach, describe, expect, it, vi } from 'vitest';
import { createWallClock } from '../../src/run-service/service-time.ts';

const HOUR_MS = 3_600_000;
const NOON_MS = Date.UTC(2026, 6, 1, 12);

afterEach(() => void vi.useRealTimers());

/** Much less than an hour. */
const SOON_MS = 20_000;

describe('work of the local service', () => {
  it.each([
    ['back by an hour', -HOUR_MS],
    ['forward by an hour', HOUR_MS],
  ])(
    'is done in time after the clock of the machine was set %s',
    async (_, byMs) => {
      vi.useFakeTimers({ toFake: ['Date'], now: NOON_MS });
      const clock = createWallClock((work) => work());
      clock.open();
      const done = (afterMs: number) =>
        new Promise<void>((resolve) => void clock.at(clock.now() + afterMs, resolve));
      await done(0);
      vi.setSystemTime(NOON_MS + byMs);
      await done(0);
      clock.close();
      expect(clock.now()).toBe(NOON_MS + byMs);
    },
    SOON_MS,
  );
});
