import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RunCompletion, BatchSignals, Delivered } from '../../src/batch/events.ts';
import { WaitingGroups } from '../../src/webhook/waiting-groups.ts';

const B = { batch: 'b', mark: '0123456789abcdef' };
const MAX_MS = 4_000;

describe('groups that wait for ends of runs', () => {
  let signalled: string[];
  let answer: Delivered;
  let groups: WaitingGroups;
  let signals: BatchSignals;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    [signalled, answer, groups] = [[], 'taken', new WaitingGroups()];
    signals = groups.signals({
      runsCompleted: async (_: unknown, __: unknown, ends: readonly RunCompletion[]) => {
        signalled.push(...ends.map(({ runId }) => runId));
        return answer;
      },
    } as unknown as BatchSignals);
  });
  afterEach(() => void vi.useRealTimers());

  const end = (runId: string): Promise<Delivered> =>
    signals.runsCompleted(B, 'webhook', [{ place: 1, attempt: 1, runId, outcome: 'succeeded' }]);
  /** Two ends, so that the next one is expected after the same time. */
  const endEvery = async (ms: number): Promise<void> => {
    await end('first');
    await vi.advanceTimersByTimeAsync(ms);
    await end('second');
  };
  const wait = (carries = true) => groups.wait(B, { mostMs: MAX_MS, carries });

  it('carry the ends of the next signal, which is then not sent', async () => {
    await endEvery(500);
    const { load } = wait();
    const delivered = end('third');
    const carried = await load;
    expect([carried?.by, carried?.completions.map(({ runId }) => runId)]).toEqual(['webhook', ['third']]);
    carried?.delivered(true);
    await expect(delivered).resolves.toBe('taken');
    expect(signalled).toEqual(['first', 'second']);
  });

  it('that Temporal has given up leave the ends to a signal', async () => {
    await endEvery(500);
    const { load } = wait();
    const delivered = end('third');
    (await load)?.delivered(false);
    await expect(delivered).resolves.toBe('taken');
    expect(signalled).toEqual(['first', 'second', 'third']);
  });

  it('of which several wait: one carries the ends, and the others complete at the same moment', async () => {
    await endEvery(500);
    const [plain, carrier, third] = [wait(false), wait(), wait()];
    void end('third');
    const loads = await Promise.all([plain, carrier, third].map(({ load }) => load));
    expect(loads.map((load) => load?.completions.length)).toEqual([undefined, 1, undefined]);
  });

  it('complete alone if no ends come for four times as long as usual', async () => {
    await endEvery(500);
    const { load } = wait();
    let isOver = false;
    void load.then(() => (isOver = true));
    await vi.advanceTimersByTimeAsync(1_999);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await expect(load).resolves.toBeUndefined();
    await end('third');
    expect(signalled).toContain('third');
  });

  it('do not wait before ends have come, or if they come more rarely than a group may wait', async () => {
    await expect(wait().load).resolves.toBeUndefined();
    await end('first');
    await expect(wait().load).resolves.toBeUndefined();
    await vi.advanceTimersByTimeAsync(MAX_MS + 1);
    await end('second');
    await expect(wait().load).resolves.toBeUndefined();
  });

  it('do not wait once ends no longer come', async () => {
    await endEvery(500);
    await vi.advanceTimersByTimeAsync(5 * MAX_MS);
    await expect(wait().load).resolves.toBeUndefined();
  });

  it('leave most of the groups that a batch may have in flight to others', async () => {
    await endEvery(500);
    const loads = Array.from({ length: 17 }, () => wait().load);
    await expect(loads.at(-1)).resolves.toBeUndefined();
    void end('third');
    await expect(loads[0]).resolves.toMatchObject({ by: 'webhook' });
  });

  it('that are stopped get no ends', async () => {
    await endEvery(500);
    const { load, stop } = wait();
    stop();
    await end('third');
    await expect(load).resolves.toBeUndefined();
    expect(signalled).toContain('third');
  });

  it('forget a batch whose ends came long ago before an older one whose ends still come', async () => {
    await endEvery(500);
    for (let n = 0; n < 1_500; n += 1) {
      if (n % 500 === 0) await end('of the old batch');
      const otherBatch = { batch: `other-${n}`, mark: B.mark };
      await signals.runsCompleted(otherBatch, 'webhook', []);
    }
    const { load } = wait();
    void end('last');
    await expect(load).resolves.toMatchObject({ completions: [{ runId: 'last' }] });
  });

  it('forget a batch that has ended', async () => {
    await endEvery(500);
    answer = 'gone';
    await expect(end('late')).resolves.toBe('gone');
    await expect(wait().load).resolves.toBeUndefined();
  });
});
