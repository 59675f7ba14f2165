import { expect, it } from 'vitest';
import { canaryRows } from '../../src/batches/canary-rows.ts';

const rowsFrom = (first: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, at) => first + at);

it('the rows of a canary are evenly spaced over the sheet', () =>
  expect(canaryRows([rowsFrom(1, 1_000)], 4)).toEqual([[126, 376, 626, 876]]));

it('each GPU has a row of the canary, and the others go to the GPUs with the most rows', () => {
  const chosen = canaryRows([rowsFrom(1, 890), rowsFrom(891, 9), [900]], 5);
  expect(chosen.map(({ length }) => length)).toEqual([3, 1, 1]);
  expect(canaryRows([rowsFrom(1, 5), rowsFrom(6, 90)], 1)).toEqual([[], [51]]);
});

it('a canary never takes a row twice', () => {
  const chosen = canaryRows([rowsFrom(1, 3), rowsFrom(4, 50)], 52).flat();
  expect(new Set(chosen).size).toBe(52);
});
