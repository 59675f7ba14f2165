// The names of a header with many equal ones.

import { expect, it } from 'vitest';
import { columnsFrom } from '../../src/sheet/header.ts';
import { growthOf, MAX_LINEAR } from '../stage/growth.ts';

it.each([
  ['equal', (size: number) => Array.from({ length: size }, () => 'photo')],
  [
    'equal but for spaces',
    (size: number) => Array.from({ length: size }, (_, at) => `photo${' '.repeat(at % 3)}`),
  ],
])('a header of many names that are %s is refused in time that grows with its length', async (_, made) => {
  const refused = (names: readonly string[]): void => {
    expect(() => columnsFrom('s.csv', 1, names)).toThrow('more than 1000 columns');
  };
  expect(await growthOf(4_000, made, refused)).toBeLessThan(MAX_LINEAR);
});

it('names that repeat get the next numbers that are free', () => {
  const names = columnsFrom('s.csv', 1, ['a', 'a', 'a.2', 'a', ' a ']).map(({ name }) => name);
  expect(names).toEqual(['a', 'a.3', 'a.2', 'a.4', 'a.5']);
});
