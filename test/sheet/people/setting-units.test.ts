// Settings in another unit than the input's: the height of a vase in centimetres is no height of its picture.

import { expect, it } from 'vitest';
import { input } from '../laying.ts';
import { read } from './reading.ts';

const SIZED = [input('prompt', 'string', { required: true }), input('width', 'int'), input('height', 'int')];
const VIDEO = [input('prompt', 'string', { required: true }), input('duration', 'int')];

it.each([
  ['Height (cm)', 'height', 'cm'],
  ['Width [in]', 'width', 'in'],
])('a size in %s is no size in pixels', async (name, setting, unit) => {
  const text = `prompt,${name}\na vase,512\na bowl,1024\n`;
  const { rows, guesses } = await read('a.csv', text, {}, { inputTypes: SIZED });
  expect(rows).toEqual(['{"prompt":"a vase"}', '{"prompt":"a bowl"}']);
  expect(guesses.filter((guess) => guess.startsWith('? '))).toEqual([
    expect.stringContaining(
      `column "${name}" is not sent, because ${setting} is not in ${unit}; to send it: `,
    ),
  ]);
});

it('a time in minutes is no length of a clip', async () => {
  const text = 'prompt,Duration (min)\na vase,5\na bowl,10\n';
  const { rows } = await read('a.csv', text, {}, { inputTypes: VIDEO });
  expect(rows).toEqual(['{"prompt":"a vase"}', '{"prompt":"a bowl"}']);
  const seconds = await read('a.csv', text.replace('min', 's'), {}, { inputTypes: VIDEO });
  expect(seconds.rows[0]).toBe('{"duration":5,"prompt":"a vase"}');
});

it('a word in a column of numbers may mean no value, which the refusal says how to state', async () => {
  const types = [input('prompt', 'string', { required: true }), input('seed', 'int', { required: false })];
  const text = 'prompt,seed\na vase,1\na bowl,ランダム\na cup,2\n';
  const refused = await read('a.csv', text, {}, { inputTypes: types }).catch((error: unknown) => error);
  expect(refused).toMatchObject({
    problems: [{ code: 'E202', hint: expect.stringContaining('; if it means no value: --null') as string }],
  });
  const { rows } = await read('a.csv', text, { null: ['ランダム'] }, { inputTypes: types });
  expect(rows[1]).toBe('{"prompt":"a bowl"}');
});
