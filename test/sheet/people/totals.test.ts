// Totals in the column of the prompt: a label with its number below the rows is asked about there as in any other column.

import { expect, it } from 'vitest';
import { input } from '../laying.ts';
import { read } from './reading.ts';

const STEPPED = [input('prompt', 'string', { required: true }), input('steps', 'int')];

const sheetOf = (last: string) => `Nr,Prompt,Steps\n1,a fox,20\n2,an owl,20\n${last}\n`;

it.each([
  ',Gesamt: 2 Motive,40',
  ',Total: 2,',
  ',Summe,40',
  ',Summe: 40,40',
  ',Total 2,',
  ',"Total images: 1,200",',
  ',Total (2 images),',
  ',Insgesamt 2 Motive,',
  ',2 Motive gesamt,40',
  ',2 images in total,',
  ',Anzahl: 2,',
  ',Number of prompts: 2,',
  ',Total général : 2,',
  ',Итого: 2,40',
  ',合計：2枚,',
  'Gesamt: 2 Motive,,40',
  'Total duration (s),,40',
  'Gesamtdauer,,40',
  'Schritte gesamt,,40',
])('is no row unless the user says so: %s', async (last) => {
  const { rows, guesses } = await read('a.csv', sheetOf(last), {}, { inputTypes: STEPPED });
  expect(rows).toEqual(['{"prompt":"a fox","steps":20}', '{"prompt":"an owl","steps":20}']);
  expect(guesses.filter((guess) => guess.startsWith('? '))).toEqual([
    expect.stringMatching(/^\? row 4 .* is not a row of the batch; to send all rows: --totals send/),
  ]);
});

it.each([
  ',Total eclipse of 2024 over a lake,20',
  ',Total chaos: a cat in a kitchen,20',
  ',3 cats in total darkness,20',
  ',Count 3 sheep,20',
  ',a sum of 12 coins,20',
])('is a prompt: %s', async (last) => {
  const { rows, guesses } = await read('a.csv', sheetOf(last), {}, { inputTypes: STEPPED });
  expect(rows).toHaveLength(3);
  expect(guesses.filter((guess) => guess.startsWith('? '))).toEqual([]);
});

it('is not filled from above', async () => {
  const text = 'Prompt,Nr,Steps\na fox,1,20\n,2,30\nGesamt: 2 Motive,,50\n,Total: 2,50\n';
  const { rows } = await read('a.csv', text, { fillDown: ['Prompt'] }, { inputTypes: STEPPED });
  expect(rows).toEqual(['{"prompt":"a fox","steps":20}', '{"prompt":"a fox","steps":30}']);
});
