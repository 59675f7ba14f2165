import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ReportedRuns } from '../../src/webhook/reported-runs.ts';

describe('the recently reported runs', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  it('expire after a minute, so that the next poll repeats a lost signal', () => {
    const reported = new ReportedRuns();
    reported.add('r');
    vi.advanceTimersByTime(59_000);
    expect(reported.has('r')).toBe(true);
    vi.advanceTimersByTime(1_001);
    expect(reported.has('r')).toBe(false);
  });

  it('are at least the last 20,000 and at most 40,000', () => {
    const reported = new ReportedRuns();
    for (let n = 0; n < 50_000; n += 1) reported.add(`${n}`);
    expect(['9999', '30000', '49999'].map((runId) => reported.has(runId))).toEqual([false, true, true]);
  });
});
