import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  errorsOf,
  missedAmong,
  type MissedRecord,
  missedSince,
} from '../../src/batch/notices/schedule-notice.ts';

describe('the errors of a failed firing', () => {
  it('are the coded error of its activity and the problems of its sheet', () => {
    const problems = [{ code: 'E103', message: 'no prompt', place: { file: 's.csv', line: 3 } }];
    const details = [{ code: 'E100', message: 'the sheet is wrong', hint: 'correct it', problems }];
    const cause = { type: 'E100', message: 'E100: the sheet is wrong', details };
    expect(errorsOf({ message: 'Activity task failed', cause })).toEqual([
      { code: 'E100', message: 'the sheet is wrong', hint: 'correct it' },
      ...problems,
    ]);
  });

  it('are read from the message of a failure without details', () => {
    const failure = { type: 'E306', message: 'E306: another service; set it' };
    expect(errorsOf(failure)).toEqual([{ code: 'E306', message: 'another service; set it' }]);
    expect(errorsOf({ type: 'E306', message: 'another', details: null })).toEqual([
      { code: 'E306', message: 'another' },
    ]);
    expect(errorsOf({ type: 'E306' })).toEqual([{ code: 'E306', message: '' }]);
  });

  it('without a code are the innermost reason', () => {
    const cause = { message: 'activity timed out', cause: { type: 'Error', message: 'no space' } };
    expect(errorsOf({ message: 'failed', cause })).toEqual([{ message: 'no space' }]);
    expect(errorsOf({})).toEqual([{ message: 'it failed' }]);
  });
});

const read = (firing: number, missed: number, createdAt = 1) => ({ createdAt, firing, missed });

describe('missed times', () => {
  it('are reported by the first firing after them, and again only by its own tries', () => {
    const first = missedSince(undefined, read(10, 2));
    expect(first.count).toBe(2);
    expect(missedSince(first.record, read(10, 2))).toEqual(first);
    expect(missedSince(first.record, read(20, 2)).count).toBe(0);
    expect(missedSince(first.record, read(20, 5)).count).toBe(3);
  });

  it('of a schedule that was made again count from 0', () => {
    const { record } = missedSince(undefined, read(10, 7));
    expect(missedSince(record, read(20, 1, 2)).count).toBe(1);
    expect(missedSince(record, read(20, 1)).count).toBe(0);
  });

  it('add up to what Temporal has counted, however often each firing tries', () => {
    const firings = fc.array(fc.record({ missed: fc.nat(5), tries: fc.integer({ min: 1, max: 3 }) }));
    fc.assert(
      fc.property(firings, (all) => {
        let [record, total, told]: [MissedRecord | undefined, number, number] = [undefined, 0, 0];
        for (const [at, { missed, tries }] of all.entries()) {
          total += missed;
          const found = Array.from({ length: tries }, () => {
            const one = missedSince(record, read(at, total));
            ({ record } = one);
            return one.count;
          });
          expect(new Set(found).size).toBe(1);
          told += found[0] ?? 0;
        }
        expect(told).toBe(total);
      }),
    );
  });
});

describe('the times that were missed', () => {
  const HOUR = 3_600_000;
  const at = { firedAt: 10 * HOUR, catchupMs: HOUR };

  it('are all times of the rule since the firing before, if as many were counted', () => {
    expect(missedAmong([7 * HOUR, 8 * HOUR], 2, at)).toEqual([7 * HOUR, 8 * HOUR]);
  });

  it('are not those that could still have fired, and were left out', () => {
    expect(missedAmong([7 * HOUR, 8 * HOUR, 9 * HOUR], 2, at)).toEqual([7 * HOUR, 8 * HOUR]);
  });

  it('are unknown if the count leaves a choice', () => {
    expect(missedAmong([7 * HOUR, 8 * HOUR], 1, at)).toEqual([]);
  });
});
