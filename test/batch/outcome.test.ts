import { expect, it } from 'vitest';
import { countSeenAs, NO_OUTCOMES, OUTCOMES, countFailure } from '../../src/batch/outcome.ts';

it('every outcome is counted in exactly one of the classes that users see', () => {
  const counts = { ...NO_OUTCOMES };
  for (const outcome of OUTCOMES) counts[outcome] = 1;
  const seen = (['good', 'bad', 'odd'] as const).map((view) => countSeenAs(counts, view));
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
