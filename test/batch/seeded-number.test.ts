import { expect, it } from 'vitest';
import { seededNumber } from '../../src/batch/seeded-number.ts';

it('a seeded number is the same for the same numbers, and spreads evenly otherwise', () => {
  expect(seededNumber(1, 2, 3)).toBe(seededNumber(1, 2, 3));
  const drawn = Array.from({ length: 2_000 }, (_, place) => seededNumber(7, place, 1));
  expect(new Set(drawn).size).toBeGreaterThan(1_900);
  expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...drawn)).toBeLessThan(1);
  const mean = drawn.reduce((sum, number) => sum + number, 0) / drawn.length;
  expect(mean).toBeGreaterThan(0.47);
  expect(mean).toBeLessThan(0.53);
});
