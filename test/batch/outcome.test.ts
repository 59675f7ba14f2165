import { expect, it } from 'vitest';
import { countSeenAs, NO_OUTCOMES, OUTCOMES } from '../../src/batch/outcome.ts';

it('every outcome is counted in exactly one of the classes that users see', () => {
  const counts = { ...NO_OUTCOMES };
  for (const outcome of OUTCOMES) counts[outcome] = 1;
  const seen = (['good', 'bad', 'odd'] as const).map((one) => countSeenAs(counts, one));
  expect([seen[0], seen.reduce((sum, count) => sum + count, 0)]).toEqual([1, OUTCOMES.length]);
  expect(countSeenAs({ ...NO_OUTCOMES, failed: 3 }, 'bad')).toBe(3);
});
