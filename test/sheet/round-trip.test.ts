import * as fc from 'fast-check';
import { stringify } from 'csv-stringify/sync';
import { describe, expect, it } from 'vitest';
import { collected, opened, PLAIN, rowsOf } from './laying.ts';
import { readCells } from '../../src/sheet/read-records.ts';

const name = fc.stringMatching(/^[a-z][a-z0-9_ ]{0,5}[a-z0-9]$/).filter((word) => word !== 'gpu');
// A double of JSON has no -0, and NUL is refused.
const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);
const members = fc.dictionary(
  name,
  json.filter((value) => value !== null),
  { noNullPrototype: true, maxKeys: 5 },
);
const chunk = fc.integer({ min: 1, max: 40 });
const formats = fc.constantFrom('jsonl', 'json');

const textOf = (rows: readonly unknown[], format: 'jsonl' | 'json', indent: number): string =>
  format === 'json'
    ? JSON.stringify(rows, undefined, indent)
    : rows.map((row) => JSON.stringify(row)).join('\n');

describe('pages', () => {
  it('hold the rows of a JSON sheet, however its bytes arrive', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(members, { minLength: 1, maxLength: 8 }),
        formats,
        fc.integer({ min: 0, max: 3 }),
        chunk,
        async (cells, format, indent, size) => {
          const rows = await rowsOf({
            text: textOf(cells, format, indent),
            options: { format },
            chunk: size,
          });
          expect(rows.map(({ inputs }) => JSON.parse(JSON.stringify(inputs)) as unknown)).toEqual(cells);
          expect(rows.map(({ row }) => row)).toEqual(cells.map((_, index) => index + 1));
          expect(new Set(rows.map(({ key }) => key)).size).toBe(cells.length);
        },
      ),
      { numRuns: 60 },
    );
  });

  const cell = fc.string({
    unit: fc.constantFrom('a', '"', ',', '\n', ' ', '\u00e9', '\u{1f98a}', '7'),
  });
  const table = fc.integer({ min: 2, max: 4 }).chain((width) =>
    fc.array(
      // A row without a value is no row.
      fc.array(cell, { minLength: width, maxLength: width }).filter((cells) => cells.join('').trim() !== ''),
      { minLength: 1, maxLength: 6 },
    ),
  );

  it('hold the rows of a CSV, and its cells are read back unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(table, chunk, async (values, size) => {
        const columns = (values[0] ?? []).map((_, index) => `c${index}`);
        const text = stringify([columns, ...values], { quoted: true });
        const types = Object.fromEntries(columns.map((column) => [column, 'string' as const]));
        const rows = await rowsOf({ text, options: { types }, chunk: size });
        expect(rows.map(({ inputs }) => inputs)).toEqual(
          values.map((cells) =>
            Object.fromEntries(cells.flatMap((of, at) => (of.trim() === '' ? [] : [[`c${at}`, of]]))),
          ),
        );
        const cells = await collected(readCells(opened(text, size), { ...PLAIN, types }, columns));
        expect(cells).toEqual(values);
      }),
      { numRuns: 60 },
    );
  });
});

describe('the cells of a sheet', () => {
  it('are those of the rows that were read', async () => {
    const open = opened('a, b \n1,"x, y"\n\n007,\nlast,row\n');
    const cells = await collected(readCells(open, { ...PLAIN, limit: 2, drop: ['b'] }));
    expect(cells).toEqual([
      ['1', 'x, y'],
      ['007', ''],
    ]);
  });

  it('are strings, JSON text, or empty if the sheet is JSON', async () => {
    const open = opened('{"a":"x","b":{"n":18446744073709551615}}\n{"c":true,"a":null}\n');
    const options = { ...PLAIN, format: 'jsonl' } as const;
    const expected = [
      ['x', '{"n":18446744073709551615}', ''],
      ['', '', 'true'],
    ];
    expect(await collected(readCells(open, options))).toEqual(expected);
    expect(await collected(readCells(open, options, ['c', 'a']))).toEqual([
      ['', 'x'],
      ['true', ''],
    ]);
  });

  it('are not invented for a line that is not a row', async () => {
    const cells = collected(readCells(opened('a,b\n1,2\n3\n'), PLAIN));
    await expect(cells).rejects.toMatchObject({ code: 'E103', place: { line: 3 } });
  });
});
