import { describe, expect, it } from 'vitest';
import { isTerminal } from '../../src/service-client/contract/statuses.ts';
import { outcomeOf } from '../../src/service-client/run-outcome.ts';

const ENDED = 1_800_000_000_000;
const of = (status: string, endedAtMs?: number): ReturnType<typeof outcomeOf> =>
  outcomeOf({ status, endedAtMs, liveStatus: undefined });

describe('the outcome of a run', () => {
  it.each([
    ['success', 'succeeded'],
    ['failed', 'failed'],
    ['timeout', 'timed-out'],
    ['cancelled', 'cancelled'],
  ])('%s is an end, and its outcome %s', (status, outcome) => {
    expect(of(status, ENDED)).toMatchObject({ kind: 'ended', outcome });
  });

  it.each(['not-started', 'queued', 'started', 'running', 'uploading', 'paused', 'SUCCESS', ''])(
    '%j is no end, whatever else the record says',
    (status) => {
      expect(isTerminal(status)).toBe(false);
      expect(of(status, ENDED)).toEqual({ kind: 'open' });
    },
  );

  it('a time-out without an end time is not final, because the run may still start', () => {
    expect(of('timeout')).toEqual({ kind: 'stale' });
  });
});
