// Each guess of the documents, with a sheet that shows it.

import { expect, it } from 'vitest';
import { GUESSES } from '../../docs/guesses.ts';
import { read } from './reading.ts';

it.each(GUESSES)('$found: $does $code $flag', async ({ does, code, flag, sheet, file = 'a.csv' }) => {
  const isWide = file === 'utf16le';
  const bytes = isWide ? Buffer.from(sheet, 'utf16le') : sheet;
  const reading = read(isWide ? 'a.csv' : file, bytes);
  if (does === 'refused') {
    await expect(reading).rejects.toMatchObject({ code });
    return;
  }
  const { guesses } = await reading;
  expect(guesses).toContainEqual(
    expect.stringMatching(new RegExp(`^${does === 'asked' ? String.raw`\? ` : '[^?]'}.*${flag}`, 's')),
  );
});
