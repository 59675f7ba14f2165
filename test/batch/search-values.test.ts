import { expect, it } from 'vitest';
import { progress } from '../../src/batch/shown/progress.ts';
import { searchValues } from '../../src/batch/shown/shown-batch.ts';
import { running } from './scenes.ts';

it('the search values count every row that has ended without success', () => {
  const shown = progress(running({ rows: 40, concurrency: 6 }).state);
  const outcomes = { ...shown.tally.outcomes, succeeded: 5, failed: 1, 'timed-out': 2 };
  expect(searchValues({ ...shown, tally: { ...shown.tally, outcomes }, costUsd: 0.25 })).toEqual({
    rows: 40,
    failed: 3,
    cost: 0.25,
  });
});
