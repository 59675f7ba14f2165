// Rows that are equal but for the way in which their keys are written.

import { describe, expect, it } from 'vitest';
import { read } from './reading.ts';

describe('equal rows', () => {
  it('of keys that differ only in case or blanks are asked about, even if the user says what names them', async () => {
    const text = 'sku,prompt\nMUG-1,fox\n"MUG-1 ",fox\nmug-1,fox\nMUG-2,fox\n';
    const { guesses } = await read('sheet.csv', text, { keyColumn: 'sku' });
    expect(guesses).toContainEqual(
      expect.stringMatching(
        /^\? 2 rows equal earlier ones \(row 2 equals row 1 but for the case or blanks of its key\), .*--unique/,
      ),
    );
    const changed = await read(
      'sheet.csv',
      text.replace('mug-1,fox', 'mug-1,hare').replace('"MUG-1 "', 'MUG-3'),
      {
        keyColumn: 'sku',
      },
    );
    expect(changed.guesses).toEqual([]);
  });
});
