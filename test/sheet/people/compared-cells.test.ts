// Conditions on the numbers and dates of a sheet as people write them: each row is read, asked about or refused, and none is left out
// because its cell has a currency or a separator.

import { describe, expect, it } from 'vitest';
import type { SheetRefused } from '../../../src/sheet/sheet-refused.ts';
import type { SheetOptions } from '../../../src/sheet/sheet-source.ts';
import { read } from './reading.ts';

const sheetOf = (cells: readonly string[]): string =>
  `id;prompt;Price\n${cells.map((cell, at) => `r${at + 1};fox;${cell}\n`).join('')}`;

async function keysWith(
  cells: readonly string[],
  where: string,
  options: Partial<SheetOptions> = {},
): Promise<{ readonly keys: readonly string[]; readonly guesses: readonly string[] }> {
  const { rows, guesses } = await read('sheet.csv', sheetOf(cells), { where, ...options });
  return { keys: rows.map((row) => row.split(' ')[0] ?? ''), guesses };
}

const refusedFor = async (
  cells: readonly string[],
  where: string,
  options: Partial<SheetOptions> = {},
): Promise<readonly string[]> => {
  const refused = (await read('sheet.csv', sheetOf(cells), { where, ...options }).catch(
    (error: unknown) => error,
  )) as SheetRefused;
  return refused.problems.map(({ message }) => message);
};

describe('a cell compared with a number', () => {
  it.each<[string, readonly string[], string, readonly string[]]>([
    [
      'a currency',
      ['$5', '€ 7', '9 kr', 'US$12', '15 EUR', '-$20', '3'],
      'Price > 5',
      ['r2', 'r3', 'r4', 'r5'],
    ],
    ['a currency in the condition', ['$5', '$50'], 'Price > $6', ['r2']],
    ['an amount of money with commas', ['$1,200', '$950', '7,50 €'], 'Price > 900', ['r1', 'r2']],
    ['both separators', ['1,200.50', '1.300,50', '12.5'], 'Price >= 1200.5', ['r1', 'r2']],
    [
      'blanks and apostrophes between thousands',
      ["1'200", '1 300', '1\u202f400', '7'],
      'Price > 1000',
      ['r1', 'r2', 'r3'],
    ],
    ['a percentage in the condition', ['50%', '12.5 %', '0.3'], 'Price > 20%', ['r1', 'r3']],
    ['a fraction in the condition', ['50%', '12.5 %'], 'Price >= 0.125', ['r1', 'r2']],
    ['zeros before and behind', ['007', '7.0', '8'], 'Price = 7', ['r1', 'r2']],
    ['nothing', ['', 'N/A', '-', '8'], 'Price > 1', ['r4']],
    ['other texts, if only equality counts', ['10A', '10', '12-30', '2026-11-21'], 'Price = 10', ['r2']],
  ])('may have %s', async (_, cells, where, keys) => {
    expect((await keysWith(cells, where)).keys).toEqual(keys);
  });

  it('may have a decimal comma, which is asked about as for inputs', async () => {
    const { keys, guesses } = await keysWith(['7,5', '12,25', '6'], 'Price > 7');
    expect(keys).toEqual(['r1', 'r2']);
    expect(guesses).toContain('? numbers have a decimal comma in "Price" (--decimal-comma)');
  });

  it('that may have thousands is refused, and the flags say what it is', async () => {
    const cells = ['1,200', '900', '1,000'];
    expect(await refusedFor(cells, 'Price > 1000')).toEqual([
      expect.stringContaining('"1,200" in column "Price"'),
      expect.stringContaining('"1,000" in column "Price"'),
    ]);
    expect((await keysWith(cells, 'Price > 100', { decimalComma: false })).keys).toEqual(['r1', 'r2', 'r3']);
    expect((await keysWith(cells, 'Price > 100', { decimalComma: true })).keys).toEqual(['r2']);
  });

  it.each([
    [['1.000', '2'], 'Price > 1'],
    [['10A', '11'], 'Price > 5'],
    [['5 kg', '11'], 'Price < 5'],
    [['50%', '11'], 'Price > 20'],
    [['#REF!', '11'], 'Price > 20'],
    [['11/21/2026', '11'], 'Price > 20'],
    [['1,200', '11'], 'Price in (1200, 11)'],
  ])('is refused by name if it is unclear: %j in %s', async (cells, where) => {
    expect(await refusedFor(cells, where)).toEqual([
      expect.stringContaining(`"${cells[0]}" in column "Price"`),
    ]);
  });

  it('without any digit is named', async () => {
    const { keys, guesses } = await keysWith(['on request', '8'], 'Price > 1');
    expect([keys, guesses]).toEqual([
      ['r2'],
      expect.arrayContaining([expect.stringContaining('"on request" is no number')]),
    ]);
  });

  it('is not read in rows that another part of the condition leaves out', async () => {
    expect((await keysWith(['10A', '11', '3'], "Price != '10A' and Price > 5")).keys).toEqual(['r2']);
  });

  it('is refused in a JSON sheet too', async () => {
    const text = '{"prompt":"fox","price":"$5"}\n{"prompt":"owl","price":"1,200"}\n';
    const options = { format: 'jsonl', drop: ['price'] } as const;
    await expect(read('a.jsonl', text, { ...options, where: 'price > 6' })).rejects.toMatchObject({
      problems: [{ code: 'E103' }],
    });
    const { rows } = await read('a.jsonl', text, { ...options, where: 'price = "1,200" or price < 6' });
    expect(rows).toHaveLength(2);
  });
});

describe('a cell compared with a date', () => {
  it('is a day or a moment', async () => {
    const cells = ['2026-11-20', '2026-11-21T08:30:00', '2026-11-21 23:59', '2026-11-22', ''];
    expect((await keysWith(cells, 'Price > 2026-11-20')).keys).toEqual(['r2', 'r3', 'r4']);
    expect((await keysWith(cells, "Price = '2026-11-21'")).keys).toEqual(['r2', 'r3']);
    expect((await keysWith(cells, 'Price > "2026-11-21 09:00"')).keys).toEqual(['r3', 'r4']);
  });

  it.each([
    [['11/21/2026', '2026-11-21'], 'Price > 2026-11-01'],
    [['21.11.2026', '2026-11-21'], 'Price = 2026-11-21'],
    [['Nov 21, 2026', '2026-11-21'], 'Price < 2026-12-01'],
  ])('is refused by name in another form: %j in %s', async (cells, where) => {
    expect(await refusedFor(cells, where)).toEqual([
      expect.stringContaining(`"${cells[0]}" in column "Price"`),
    ]);
  });

  it('has its form in the condition too', async () => {
    await expect(keysWith(['2026-11-21'], 'Price > 11/01/2026')).rejects.toMatchObject({
      code: 'E550',
      message: expect.stringContaining('a date is written as 2026-11-21'),
    });
  });
});

describe('an input of numbers', () => {
  it('with commas between thousands is read after the flag that its refusal adds', async () => {
    const text = 'prompt;seed\nfox;1,200\n';
    await expect(read('a.csv', text)).rejects.toMatchObject({
      problems: [{ code: 'E202', correction: { add: [['--no-decimal-comma']] } }],
    });
    expect((await read('a.csv', text, { decimalComma: false })).rows).toEqual([
      '{"prompt":"fox","seed":1200}',
    ]);
  });
});
