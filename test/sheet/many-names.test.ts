// Rows of JSON with very many names, or with very many wrong cells: what they take grows with their length, not with its
// square. Each takes a fraction of the time that it is given here; with the square it would be minutes.

import { describe, expect, it } from 'vitest';
import { input, lay, refusedBy, spot, thrownBy } from './laying.ts';

const jsonl = { format: 'jsonl' } as const;
const json = { format: 'json' } as const;
const named = (names: number): string =>
  `{${Array.from({ length: names }, (_, n) => `"n${n}":1`).join(',')}}`;
const SOON = 10_000;

describe('a row with very many names', () => {
  it.each([
    ['a line', jsonl, named(300_000), 1],
    ['an element', json, `[\n${named(300_000)}]`, 2],
  ] as const)(
    'is refused at the first name above the limit (%s)',
    async (_, options, text, line) => {
      const error = await thrownBy(lay({ text, options }));
      expect(error.message).toBe('the rows use more than 1000 different names');
      const column = `{${named(1000).slice(1, -1)},`.length + 1;
      expect(spot(error)).toBe(`E104 ${line}:${column}`);
      expect(error.place?.columnName).toBe('n1000');
    },
    SOON,
  );

  it('is refused for the number of its names before they are checked', async () => {
    const text = `{"__proto__":1,${named(300_000).slice(1)}`;
    expect((await thrownBy(lay({ text, options: jsonl }))).message).toMatch(/more than 1000 different names/);
  });

  it('counts the names of all rows together', async () => {
    const text = Array.from({ length: 1001 }, (_, n) => `{"n${n}":1}`).join('\n');
    expect(spot(await thrownBy(lay({ text, options: jsonl })))).toBe('E104 1001:2');
  });
});

describe('a long row with a thousand invalid cells', () => {
  const inputTypes = [
    input('prompt', 'text'),
    ...Array.from({ length: 999 }, (_, n) => input(`n${n}`, 'int')),
  ];
  const wrong = Array.from({ length: 999 }, (_, n) => `"n${n}":"x"`).join(',');

  it(
    'reports the place of each cell',
    async () => {
      const text = `{"prompt":"${'fox '.repeat(1_000_000)}",${wrong}}\n`;
      const refused = await refusedBy(lay({ text, options: jsonl, inputTypes }));
      expect(refused.total).toBe(999);
      const first = text.indexOf('"n0"') + 1;
      expect(refused.problems.slice(0, 2).map(spot)).toEqual([
        `E202 1:${first + 5}`,
        `E202 1:${first + '"n0":"x",'.length + 5}`,
      ]);
    },
    SOON,
  );
});
