// The service's own time, derived from its answers.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connectRunService } from '../../src/service-client/client.ts';
import { ServiceClock } from '../../src/service-client/connection.ts';
import { answer, scripted } from './scripted.ts';

const TEN = Date.parse('2026-11-21T10:00:00Z');
const HOUR_MS = 3_600_000;
const header = (ms: number): string => new Date(ms).toUTCString();

describe('the clock of a service', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['Date', 'performance'], now: TEN }));
  afterEach(() => vi.useRealTimers());

  it('is unknown before the first answer with a date', () => {
    const clock = new ServiceClock();
    expect(clock.nowMs()).toBeUndefined();
    clock.note(undefined);
    clock.note('soon');
    clock.note([]);
    expect(clock.nowMs()).toBeUndefined();
  });

  it('continues from the latest answer, an hour ahead or behind, whatever our own clock shows', () => {
    const clock = new ServiceClock();
    clock.note(header(TEN + HOUR_MS));
    vi.advanceTimersByTime(5_000);
    vi.setSystemTime(TEN - 24 * HOUR_MS);
    expect(clock.nowMs()).toBe(TEN + HOUR_MS + 5_000);
    clock.note(header(TEN - HOUR_MS));
    expect(clock.nowMs()).toBe(TEN - HOUR_MS);
  });

  it('ignores an answer without a date', () => {
    const clock = new ServiceClock();
    clock.note(header(TEN));
    vi.advanceTimersByTime(1_000);
    clock.note(undefined);
    clock.note('Thu, 99 Nov 2026');
    expect(clock.nowMs()).toBe(TEN + 1_000);
  });

  it('uses the first of several dates', () => {
    const clock = new ServiceClock();
    clock.note([header(TEN), header(TEN + HOUR_MS)]);
    expect(clock.nowMs()).toBe(TEN);
  });
});

describe('a client', () => {
  it('learns the time of the service from any answer, even from an error', async () => {
    const behindMs = Date.now() - HOUR_MS;
    const date = `date: ${header(behindMs)}\r\n`;
    for (const [status, body] of [
      [200, '{}'],
      [404, '{"detail":"Run not found"}'],
      [401, '{"detail":"Invalid token"}'],
      [503, '<h1>away</h1>'],
    ] as const) {
      const client = await scripted(connectRunService, (socket) => socket.write(answer(status, body, date)));
      expect(client.nowMs()).toBeUndefined();
      await client.getRun('r').catch(() => undefined);
      const lagMs = (client.nowMs() ?? 0) - behindMs;
      // The header has a resolution of one second.
      expect([status, Math.abs(lagMs) < 10_000]).toEqual([status, true]);
    }
  });

  it('learns it from the answer to Queue Run too', async () => {
    const client = await scripted(connectRunService, (socket) =>
      socket.write(answer(429, '{"detail":"slow down"}', `date: ${header(TEN)}\r\n`)),
    );
    const order = { deploymentId: 'd', inputs: {}, webhook: undefined };
    await client.queueRun(order, { beforeSend: () => undefined, deadlineMs: 10_000 });
    expect(client.nowMs()).toBeGreaterThanOrEqual(TEN);
    expect(client.nowMs()).toBeLessThan(TEN + 10_000);
  });

  it('does not know it if the service sends no date', async () => {
    const client = await scripted(connectRunService, (socket) => socket.write(answer(200, '{"L4":1}')));
    await client.getPrices();
    expect(client.nowMs()).toBeUndefined();
  });
});
