// Numbers with the signs of other keyboards and languages.

import { expect, it } from 'vitest';
import { plainNumber } from '../../src/sheet/number-signs.ts';
import { read } from './people/reading.ts';

it.each([
  ['２０', '20'],
  ['−1', '-1'],
  ['－７．５', '-7.5'],
  ['1 024', '1024'],
  ['1\u202f048\u202f576,5', '1048576,5'],
  ['1’024.25', '1024.25'],
  ['7‚5', '7,5'],
  ['٣٫٥', '3.5'],
  ['१२', '12'],
  ['𝟐𝟎', '20'],
  ['１０２４px', '1024px'],
])('%s is the number %s', (text, plain) => {
  expect(plainNumber(text)).toBe(plain);
});

it.each(['1 2', '12 34', '1 0245', '1024', '5 s', 'v²', 'a−1', '—', '１ / ２'])(
  '%s stays as it is',
  (text) => {
    expect(plainNumber(text)).toBe(text);
  },
);

it('a number input takes them, and a text input the text', async () => {
  const { rows, guesses } = await read('a.csv', 'prompt,seed,cfg\n２０,−1,7‚5\nb,１ ０２４,2\n');
  expect(rows).toEqual(['{"cfg":7.5,"prompt":"２０","seed":-1}', '{"cfg":2,"prompt":"b","seed":1024}']);
  expect(guesses).toEqual(['? numbers have a decimal comma in "cfg" (--decimal-comma)']);
});
