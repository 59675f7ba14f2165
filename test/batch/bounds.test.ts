import { describe, expect, it } from 'vitest';
import { CONCURRENCY_MAX, mostConcurrency, RETRIES_MAX } from '../../src/batch/bounds.ts';

describe('concurrency', () => {
  it('the most runs at the same time are 3,000 if rows are hardly tried again, and fewer the more often they may be', () => {
    expect([0, 1, 2, RETRIES_MAX].map(mostConcurrency)).toEqual([
      CONCURRENCY_MAX,
      CONCURRENCY_MAX,
      2_941,
      467,
    ]);
  });
});
