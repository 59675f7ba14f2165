import { ActivityNotFoundError, type AsyncCompletionClient } from '@temporalio/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NotAllowed, takeLease, type AskHolder } from '../../activities/lease.ts';
import { LEASE_MS } from '../../src/batch/bounds.ts';

describe('a lease', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }));
  afterEach(() => void vi.useRealTimers());

  const leaseOn = (
    heartbeat: () => Promise<void>,
    stopping = new AbortController().signal,
    whyNotHeld: AskHolder = async () => undefined,
  ) => takeLease({ heartbeat } as unknown as AsyncCompletionClient, new Uint8Array(), stopping, whyNotHeld);

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
    let isConfirmed = true;
    const lease = leaseOn(async () => {
      if (isConfirmed) throw new ActivityNotFoundError('gone');
    });
    expect(await lease.heartbeat([])).toBe(false);
    isConfirmed = false;
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

  describe('on a batch that another execution may have', () => {
    const alive = async (): Promise<void> => undefined;
    const never = new AbortController().signal;

    it('allows nothing before the folder has named this execution', async () => {
      const lease = leaseOn(alive, never, () => new Promise(() => undefined));
      await lease.heartbeat([]);
      expect(() => lease.check()).toThrow(/folder could not be read/);
    });

    it('asks the folder before the first heartbeat, which alone shows that something may have been sent', async () => {
      const order: string[] = [];
      const lease = leaseOn(
        async () => void order.push('heartbeat'),
        never,
        async () => {
          order.push('folder');
          return undefined;
        },
      );
      await lease.begin([]);
      expect(order.slice(0, 2)).toEqual(['folder', 'folder']);
      expect(order).toContain('heartbeat');
      expect(() => lease.check()).not.toThrow();
    });

    it('allows sending for three seconds after the folder was asked, although Temporal confirms the group', async () => {
      let isAway = false;
      const lease = leaseOn(alive, never, async () => {
        if (isAway) throw new Error('EIO');
        return undefined;
      });
      await lease.begin([]);
      isAway = true;
      vi.advanceTimersByTime(LEASE_MS - 1);
      await lease.heartbeat([]);
      expect(() => lease.check()).not.toThrow();
      vi.advanceTimersByTime(1);
      expect(() => lease.check()).toThrow(/folder could not be read/);
    });

    it('is lost permanently once the folder names another execution', async () => {
      let reason: string | undefined = 'the state folder /b has the batch now';
      const lease = leaseOn(alive, never, async () => reason);
      expect(await lease.begin([])).toBe(false);
      reason = undefined;
      await lease.heartbeat([]);
      expect(() => lease.check()).toThrow('/b has the batch now');
    });

    it('delays no heartbeat while the folder hangs', async () => {
      let heartbeats = 0;
      const lease = leaseOn(
        async () => void (heartbeats += 1),
        never,
        () => new Promise(() => undefined),
      );
      await lease.heartbeat([]);
      await lease.heartbeat([]);
      expect(heartbeats).toBe(2);
    });
  });
});
