import { expect, it } from 'vitest';
import { isRepeated, OPTIONS, type AnyOption } from '../../src/options/table.ts';

it('a flag is repeated if each of its values is one of several', () => {
  const repeated = Object.entries<AnyOption>(OPTIONS).filter(([, { kind }]) => isRepeated(kind));
  expect(repeated.map(([option]) => option).toSorted()).toEqual([
    'drop',
    'fillDown',
    'grid',
    'map',
    'notify',
    'servers',
    'set',
    'split',
    'type',
  ]);
});
