import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countSeenAs, NO_OUTCOMES, OUTCOMES, countFailure } from '../../src/batch/outcome.ts';
import { backoffMs, chance, RETRY_BASE_MS, RETRY_MAX_MS, retryAt } from '../../src/batch/retry-policy.ts';

it('every outcome is counted in exactly one of the classes that users see', () => {
  const counts = { ...NO_OUTCOMES };
  for (const outcome of OUTCOMES) counts[outcome] = 1;
  const seen = (['good', 'bad', 'odd'] as const).map((one) => countSeenAs(counts, one));
  expect([seen[0], seen.reduce((sum, count) => sum + count, 0)]).toEqual([1, OUTCOMES.length]);
  expect(countSeenAs({ ...NO_OUTCOMES, failed: 3 }, 'bad')).toBe(3);
});

it('counts an attempt by the kind of failure in its log, else by its outcome', () => {
  let counts = countFailure(undefined, { outcome: 'failed', failure: 'out-of-memory' });
  counts = countFailure(counts, { outcome: 'failed', failure: 'out-of-memory' });
  counts = countFailure(counts, { outcome: 'failed', failure: 'unknown' });
  counts = countFailure(counts, { outcome: 'refused' });
  expect(counts).toEqual({ 'out-of-memory': 2, failed: 1, refused: 1 });
});

it('counts neither what succeeded nor what was cancelled', () => {
  expect(countFailure(undefined, { outcome: 'succeeded' })).toBeUndefined();
  expect(countFailure({ failed: 1 }, { outcome: 'cancelled' })).toEqual({ failed: 1 });
});

const policy = { retries: 2, seed: 11 };

describe('retry policy', () => {
  it('the retry policy gives a failed and a timed-out row another attempt, later', () => {
    for (const outcome of ['failed', 'timed-out'] as const)
      expect(retryAt({ outcome, tries: 1, place: 5 }, policy, 1_000)).toBeGreaterThan(1_000);
  });

  it('the retry policy lets every other outcome stand', () => {
    for (const outcome of ['succeeded', 'cancelled', 'refused', 'unknown'] as const)
      expect(retryAt({ outcome, tries: 1, place: 5 }, policy, 1_000)).toBeUndefined();
  });

  it('the retry policy stops after as many further attempts as the batch allows', () => {
    expect(retryAt({ outcome: 'failed', tries: 2, place: 5 }, policy, 0)).toBeDefined();
    expect(retryAt({ outcome: 'failed', tries: 3, place: 5 }, policy, 0)).toBeUndefined();
    expect(retryAt({ outcome: 'failed', tries: 1, place: 5 }, { ...policy, retries: 0 }, 0)).toBeUndefined();
  });

  it('the retry policy waits twice as long each time, at least half of it, never beyond the bound', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.double({ min: 0, max: 0.999_999, noNaN: true }),
        (tries, drawn) => {
          const whole = Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** (tries - 1));
          const ms = backoffMs(tries, drawn);
          expect(ms).toBeGreaterThanOrEqual(whole / 2);
          expect(ms).toBeLessThanOrEqual(whole);
        },
      ),
    );
  });

  it('the retry policy draws the same number for the same row and try, and spreads over rows', () => {
    expect(chance(1, 2, 3)).toBe(chance(1, 2, 3));
    const drawn = Array.from({ length: 2_000 }, (_, row) => chance(7, row, 1));
    expect(new Set(drawn).size).toBeGreaterThan(1_900);
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...drawn)).toBeLessThan(1);
    const mean = drawn.reduce((sum, one) => sum + one, 0) / drawn.length;
    expect(mean).toBeGreaterThan(0.47);
    expect(mean).toBeLessThan(0.53);
  });
});
