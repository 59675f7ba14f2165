import { describe, expect, it } from 'vitest';
import { outcomeOf, timesOf } from '../../src/service-client/run-outcome.ts';

const TIMES = { createdAtMs: 1_000, queuedAtMs: 5_813.4, startedAtMs: 13_000, endedAtMs: 19_000 };

describe('the times of a run', () => {
  it('are its queueing, the start of its machine and its run, in whole milliseconds', () => {
    expect(timesOf(TIMES)).toEqual([4_813, 7_187, 6_000]);
  });

  it.each(['createdAtMs', 'queuedAtMs', 'startedAtMs', 'endedAtMs'] as const)(
    'are not known without %s',
    (name) => {
      const { [name]: _, ...times } = TIMES;
      expect(timesOf(times)).toBeUndefined();
    },
  );

  it('are never negative, and never absurdly long', () => {
    expect(timesOf({ ...TIMES, createdAtMs: 9_000, endedAtMs: 1e15 })).toEqual([0, 7_187, 1e9]);
  });

  it('travel with the end of the run only', () => {
    expect(outcomeOf({ status: 'success', liveStatus: undefined, ...TIMES })).toEqual({
      kind: 'ended',
      outcome: 'succeeded',
      times: [4_813, 7_187, 6_000],
    });
    expect(outcomeOf({ status: 'running', liveStatus: undefined, ...TIMES })).toEqual({ kind: 'open' });
  });
});
