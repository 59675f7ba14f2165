import { describe, expect, it } from 'vitest';
import { mostConcurrency } from '../../src/batch/bounds.ts';
import { MAX_CONCURRENCY, MAX_RETRIES } from '../../src/options/bounds-and-defaults.ts';

describe('concurrency', () => {
  it('the most runs at the same time are 3,000 if rows are hardly tried again, and fewer the more often they may be', () => {
    expect([0, 1, 2, MAX_RETRIES].map((retries) => mostConcurrency(retries))).toEqual([
      MAX_CONCURRENCY,
      MAX_CONCURRENCY,
      2_941,
      467,
    ]);
  });

  it('the most runs at the same time are fewer if rows may be resubmitted, and a state takes in as many', () => {
    expect([0, 2, MAX_RETRIES].map((retries) => mostConcurrency(retries, true))).toEqual([2_459, 1_648, 415]);
  });
});
