// The change that `retry --set` makes to a row, in the names that the row has.

import { expect, it } from 'vitest';
import { changedInputs, changeFrom } from '../../src/sheet/input-change.ts';
import { withSheetNames, type SheetInput } from '../../src/sheet/named-inputs.ts';

const TYPES = [
  { name: 'prompt', type: 'string', required: false, fields: ['6.text'], also: ['Positive'] },
  { name: 'seed', type: 'int', required: false, fields: ['3.seed', '29.seed'] },
];
const changed = async (row: object, stored: readonly SheetInput[], set: Readonly<Record<string, string>>) => {
  const change = await changeFrom(set, {}, withSheetNames(TYPES, stored), {} as never, stored);
  return changedInputs(row as Readonly<Record<string, unknown>>, change);
};

it.each(['Positive', 'prompt', '6.text'])(
  'of a batch from when rows spoke of names, %s replaces what the row has',
  async (name) => {
    const row = { Positive: 'old' };
    expect(await changed(row, [{ input: 'Positive' }], { [name]: 'new' })).toEqual({ Positive: 'new' });
  },
);

it.each(['words', '6.text'])('of a batch whose rows speak of fields, %s replaces its field', async (name) => {
  const stored = [{ input: 'words', fields: ['6.text'] }];
  expect(await changed({ '6.text': 'old' }, stored, { [name]: 'new' })).toEqual({ '6.text': 'new' });
});

it('fills all fields of a name, and one by its address', async () => {
  const row = { '3.seed': 1, '29.seed': 1 };
  const stored = [{ input: 'seed', fields: ['3.seed', '29.seed'] }];
  expect(await changed(row, stored, { seed: '5' })).toEqual({ '3.seed': 5, '29.seed': 5 });
  expect(await changed(row, stored, { '29.seed': '5' })).toEqual({ '3.seed': 1, '29.seed': 5 });
});
