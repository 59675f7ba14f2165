import { ActivityNotFoundError, type AsyncCompletionClient } from '@temporalio/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NotAllowed, takeLease } from '../../activities/lease.ts';
import { LEASE_MS } from '../../src/batch/bounds.ts';

describe('a lease', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }));
  afterEach(() => void vi.useRealTimers());

  const leaseOn = (heartbeat: () => Promise<void>, stopping = new AbortController().signal) =>
    takeLease({ heartbeat } as unknown as AsyncCompletionClient, new Uint8Array(), stopping);

  it('allows nothing before Temporal has confirmed the group', () => {
    expect(() => leaseOn(async () => undefined).check()).toThrow(NotAllowed);
  });

  it('allows sending for three seconds after the request, not after the answer', async () => {
    const lease = leaseOn(async () => void vi.advanceTimersByTime(1_000));
    await lease.heartbeat([]);
    vi.advanceTimersByTime(LEASE_MS - 1_001);
    expect(() => lease.check()).not.toThrow();
    vi.advanceTimersByTime(1);
    expect(() => lease.check()).toThrow(/not confirmed the group recently/);
  });

  it('expires while Temporal is unreachable, and opens again afterwards', async () => {
    let isAway = true;
    const lease = leaseOn(async () => {
      if (isAway) throw new Error('away');
    });
    expect(await lease.heartbeat([])).toBe(true);
    expect(() => lease.check()).toThrow(NotAllowed);
    isAway = false;
    await lease.heartbeat([]);
    expect(() => lease.check()).not.toThrow();
  });

  it('is lost permanently when Temporal has abandoned the group', async () => {
    let given = true;
    const lease = leaseOn(async () => {
      if (given) throw new ActivityNotFoundError('gone');
    });
    expect(await lease.heartbeat([])).toBe(false);
    given = false;
    expect(await lease.heartbeat([])).toBe(false);
    expect(() => lease.check()).toThrow(/abandoned the group/);
  });

  it('closes when the wall clock jumps, although little time has passed', async () => {
    const lease = leaseOn(async () => undefined);
    await lease.heartbeat([]);
    vi.setSystemTime(Date.now() + 60_000);
    expect(() => lease.check()).toThrow(NotAllowed);
  });

  it('closes when the worker stops', async () => {
    const stopping = new AbortController();
    const lease = leaseOn(async () => undefined, stopping.signal);
    await lease.heartbeat([]);
    stopping.abort();
    expect(() => lease.check()).toThrow(/stopping/);
  });
});
