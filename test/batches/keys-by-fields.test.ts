// Rows without a key of their own are known by their content, also those that were made when rows spoke of names.

import { expect, it } from 'vitest';
import { keyByFields } from '../../src/batches/append/compare-rows.ts';
import { contentKey } from '../../src/sheet/row-keys.ts';

const INPUTS = [
  { input: 'prompt', fields: ['6.text'], also: ['Positive'] },
  { input: 'seed', fields: ['3.seed', '29.seed'] },
];
const TODAY = contentKey('{"29.seed":7,"3.seed":7,"6.text":"a fox"}', undefined);

it.each([
  ['names', { prompt: 'a fox', seed: 7 }],
  ['titles', { Positive: 'a fox', seed: 7 }],
  ['fields', { '29.seed': 7, '3.seed': 7, '6.text': 'a fox' }],
])('a row by %s has the key that it has today', (_, inputs) => {
  const members = Object.entries(inputs).sort(([a], [b]) => (a < b ? -1 : 1));
  const key = contentKey(JSON.stringify(Object.fromEntries(members)), undefined);
  expect(keyByFields({ key, inputs }, INPUTS)).toBe(TODAY);
  expect(keyByFields({ key: `${key}-2`, inputs }, INPUTS)).toBe(`${TODAY}-2`);
});

it('a key that the sheet gave stays, also one that ends in a number', () => {
  for (const key of ['fox', 'fox-2'])
    expect(keyByFields({ key, inputs: { prompt: 'a fox' } }, INPUTS)).toBeUndefined();
});
