import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ReportedRuns } from '../../src/webhook/reported-runs.ts';

describe('the runs that were reported lately', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  it('are forgotten after a minute: a batch that did not get the signal is told by the next poll', () => {
    const reported = new ReportedRuns();
    reported.add('r');
    vi.advanceTimersByTime(59_000);
    expect(reported.has('r')).toBe(true);
    vi.advanceTimersByTime(1_001);
    expect(reported.has('r')).toBe(false);
  });

  it('are at most 20,000, and the oldest is forgotten first', () => {
    const reported = new ReportedRuns();
    for (let n = 0; n <= 20_000; n += 1) reported.add(`${n}`);
    expect([reported.has('0'), reported.has('1'), reported.has('20000')]).toEqual([false, true, true]);
  });
});
