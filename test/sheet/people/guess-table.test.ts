// Each guess of the documents, with a sheet that shows it.

import { expect, it } from 'vitest';
import { GUESSES } from '../../docs/guesses.ts';
import { input } from '../laying.ts';
import { INPUTS, read } from './reading.ts';

const readAs = (
  { sheet, file = 'a.csv', set = {}, inputs = [] }: (typeof GUESSES)[number],
  sentences: string[] = [],
) =>
  read(
    file === 'utf16le' ? 'a.csv' : file,
    file === 'utf16le' ? Buffer.from(sheet, 'utf16le') : sheet,
    { set },
    { sentences, inputTypes: [...INPUTS, ...inputs.map((name) => input(name, 'int'))] },
  );

it.each(GUESSES.filter(({ does }) => does !== 'refused'))('$found: $does $flag', async (guessed) => {
  const { guesses } = await readAs(guessed);
  const mark = guessed.does === 'asked' ? String.raw`\? ` : '[^?]';
  expect(guesses).toContainEqual(expect.stringMatching(new RegExp(`^${mark}.*${guessed.flag}`, 's')));
});

it.each(GUESSES.filter(({ does }) => does === 'refused'))('$found: refused, $code', async (guessed) => {
  await expect(readAs(guessed)).rejects.toMatchObject({ code: guessed.code });
});

it('no sentence of a guess contains a flag: a page shows it as well', async () => {
  const sentences: string[] = [];
  const shown = GUESSES.filter(({ does }) => does !== 'refused');
  for (const guessed of shown) await readAs(guessed, sentences);
  expect(sentences.length).toBeGreaterThanOrEqual(shown.length);
  expect(
    sentences.filter(
      (text) => /(?:^|\s)--[a-z]/.test(text) && !/^(?:parts of the prompts|cells of) /.test(text),
    ),
  ).toEqual([]);
});
