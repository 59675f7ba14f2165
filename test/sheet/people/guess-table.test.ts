// Each guess of the documents, with a sheet that shows it.

import { expect, it } from 'vitest';
import { GUESSES } from '../../docs/guesses.ts';
import { read } from './reading.ts';

const readAs = ({ sheet, file = 'a.csv', set = {} }: (typeof GUESSES)[number]) =>
  file === 'utf16le' ? read('a.csv', Buffer.from(sheet, 'utf16le')) : read(file, sheet, { set });

it.each(GUESSES.filter(({ does }) => does !== 'refused'))('$found: $does $flag', async (guessed) => {
  const { guesses } = await readAs(guessed);
  const mark = guessed.does === 'asked' ? String.raw`\? ` : '[^?]';
  expect(guesses).toContainEqual(expect.stringMatching(new RegExp(`^${mark}.*${guessed.flag}`, 's')));
});

it.each(GUESSES.filter(({ does }) => does === 'refused'))('$found: refused, $code', async (guessed) => {
  await expect(readAs(guessed)).rejects.toMatchObject({ code: guessed.code });
});
