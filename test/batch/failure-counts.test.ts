import { expect, it } from 'vitest';
import { countFailure } from '../../src/batch/failure-counts.ts';

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
