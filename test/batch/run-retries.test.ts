import fc from 'fast-check';
import { expect, it } from 'vitest';
import { backoffMs, RETRY_BASE_MS, MAX_RETRY_MS, retryAt } from '../../src/batch/run-retries.ts';

const policy = { retries: 2, seed: 11 };

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
        const whole = Math.min(MAX_RETRY_MS, RETRY_BASE_MS * 2 ** (tries - 1));
        const ms = backoffMs(tries, drawn);
        expect(ms).toBeGreaterThanOrEqual(whole / 2);
        expect(ms).toBeLessThanOrEqual(whole);
      },
    ),
  );
});
