import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fileName as folderNameOf } from '../../src/errors/outside-text.ts';
import { contentKey, fingerprint, KeyTable } from '../../src/sheet/row-keys.ts';
import { lay, refusedBy, rowsOf, spot } from './laying.ts';

const keysOf = async (text: string, options = {}): Promise<readonly string[]> =>
  (await rowsOf({ text, options })).map(({ key }) => key);

describe('the key of a row', () => {
  it('is the sha256 of its canonical inputs and its requested gpu', async () => {
    expect(await keysOf('b,a,gpu\n2,x,\n2,x,T4\n')).toEqual([
      fingerprint('{"inputs":{"a":"x","b":2}}'),
      fingerprint('{"gpu":"T4","inputs":{"a":"x","b":2}}'),
    ]);
    expect(fingerprint('')).toBe('e3b0c44298fc1c14');
  });

  it('does not depend on the order of columns, the format, or where the gpu was requested', async () => {
    const [key] = await keysOf('a,b\nx,2\n', { gpu: 'T4' });
    expect(await keysOf('b,gpu,a\n2,T4,x\n')).toEqual([key]);
    expect(await keysOf('{"b":2,"gpu":"T4","a":"x"}', { format: 'jsonl' })).toEqual([key]);
    expect(contentKey('{"a":"x","b":2}', 'T4')).toBe(key);
  });

  it('gets a number if rows repeat, and the repeats are reported', async () => {
    const text = `a\n${'x\n'.repeat(13)}y\n`;
    const key = fingerprint('{"inputs":{"a":"x"}}');
    const keys = await keysOf(text);
    expect(keys.slice(0, 3)).toEqual([key, `${key}-2`, `${key}-3`]);
    expect(keys[12]).toBe(`${key}-13`);
    const { repeats } = await lay({ text });
    expect(repeats).toEqual({ count: 12, first: { row: 2, firstRow: 1 } });
  });

  it('is the cell of the key column, which is then not an input', async () => {
    const rows = await rowsOf({ text: 'id,a\nfox-1,1\nFox 2,1\n', options: { keyColumn: 'id' } });
    expect(rows).toEqual([
      { row: 1, key: 'fox-1', inputs: { a: 1 } },
      { row: 2, key: 'Fox 2', inputs: { a: 1 }, name: expect.stringMatching(/^Fox-2-[0-9a-f]{16}$/) },
    ]);
  });

  it('is also an input if the deployment has one of that name, or with --map', async () => {
    const id = { name: 'id', type: 'string', required: true };
    const options = { keyColumn: 'id' };
    expect(await rowsOf({ text: 'id\n7\n', options, inputTypes: [id] })).toEqual([
      { row: 1, key: '7', inputs: { id: '7' } },
    ]);
    expect(await rowsOf({ text: 'id\n7\n', options: { ...options, map: { seed: 'id' } } })).toEqual([
      { row: 1, key: '7', inputs: { seed: 7 } },
    ]);
  });

  it('may be a number in JSON', async () => {
    const text = '{"id":18446744073709551615}\n{"id":"x"}\n';
    expect(await keysOf(text, { format: 'jsonl', keyColumn: 'id' })).toEqual(['18446744073709551615', 'x']);
  });

  it('must not repeat, be empty, too long or not a text', async () => {
    const text = `id,a\nx,1\ny,2\nx,3\n,4\n${'k'.repeat(201)},5\n`;
    const refused = await refusedBy(lay({ text, options: { keyColumn: 'id' } }));
    expect(refused.problems.map(spot)).toEqual(['E105 4:1', 'E202 5:1', 'E202 6:1']);
    expect(refused.problems[0]?.message).toBe('row 3 has the key "x" that row 1 has already');
    expect(refused.problems[1]?.message).toBe('"" in column "id" is not a key');
    const json = '{"id":{"a":1}}\n{"id":null}\n{"id":"a\\u0007"}\n';
    const more = await refusedBy(lay({ text: json, options: { keyColumn: 'id', format: 'jsonl' } }));
    expect(more.problems.map(spot)).toEqual(['E202 1:7', 'E202 2:7', 'E202 3:7']);
  });

  it('is checked for repeats also in rows with other errors and for long numbers', async () => {
    const refused = await refusedBy(lay({ text: 'id,gpu\nx,\nx,Z\nx,\n', options: { keyColumn: 'id' } }));
    expect(refused.problems.map(spot)).toEqual(['E201 3:2', 'E105 3:1', 'E105 4:1']);
    const digits = '1'.repeat(100);
    const text = `{"id":${digits}1}\n{"id":${digits}2}\n`;
    expect(await keysOf(text, { format: 'jsonl', keyColumn: 'id' })).toEqual([`${digits}1`, `${digits}2`]);
  });

  const inputs = fc.record({ a: fc.integer({ min: 0, max: 3 }), b: fc.constantFrom('x', 'y', null) });

  it('is unique for all inputs, and the first row with it keeps it in any order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(inputs, { minLength: 1, maxLength: 40 }), async (rowsOfInputs) => {
        const textOf = (rows: typeof rowsOfInputs): string =>
          rows.map((row) => JSON.stringify(row)).join('\n');
        const keys = await keysOf(textOf(rowsOfInputs), { format: 'jsonl' });
        expect(new Set(keys).size).toBe(rowsOfInputs.length);
        expect([...(await keysOf(textOf(rowsOfInputs.toReversed()), { format: 'jsonl' }))].sort()).toEqual(
          [...keys].sort(),
        );
      }),
      { numRuns: 30 },
    );
  });
});

describe('the key table', () => {
  it('finds every repeat while it grows', () => {
    const table = new KeyTable();
    const prints = Array.from({ length: 5000 }, (_, n) => fingerprint(String(n)));
    for (const [index, print] of prints.entries())
      expect(table.sight(print, index + 1)).toEqual({ nth: 1, firstRow: index + 1 });
    for (const [index, print] of prints.entries())
      expect(table.sight(print, 9999)).toEqual({ nth: 2, firstRow: index + 1 });
  });

  it('distinguishes hashes with the same lower half', () => {
    const table = new KeyTable();
    expect(table.sight('0000000100000001', 1).nth).toBe(1);
    expect(table.sight('0000000200000001', 2).nth).toBe(1);
    expect(table.sight('0000000000000000', 3).nth).toBe(1);
    expect(table.sight('0000000200000001', 4)).toEqual({ nth: 2, firstRow: 2 });
  });

  it('takes 16 bytes a slot and less than 43 bytes a row', () => {
    const table = new KeyTable();
    let most = 0;
    for (let row = 1; row <= 100_000; row += 1) {
      table.sight(fingerprint(String(row)), row);
      if (row > 1000) most = Math.max(most, table.bytes / row);
    }
    expect(most).toBeLessThan(43);
    expect(table.bytes).toBe(131_072 * 2 * 16);
  });
});

describe('the folder of a key', () => {
  it.each(['a', 'fox-1', '0123456789abcdef', '0123456789abcdef-12', 'x'.repeat(80)])(
    '%s is unchanged',
    (key) => {
      expect(folderNameOf(key)).toBe(key);
    },
  );

  it.each([
    ['Fox', /^fox-[0-9a-f]{16}$/],
    ['Caf\u00e9 cr\u00e8me', /^cafe-creme-[0-9a-f]{16}$/],
    ['../../etc/passwd', /^etc-passwd-[0-9a-f]{16}$/],
    ['con', /^con-[0-9a-f]{16}$/],
    ['lpt1', /^lpt1-[0-9a-f]{16}$/],
    ['..', /^key-[0-9a-f]{16}$/],
    ['', /^key-[0-9a-f]{16}$/],
    ['-rf', /^rf-[0-9a-f]{16}$/],
    ['a.', /^a-[0-9a-f]{16}$/],
    ['x'.repeat(81), /^x{48}-[0-9a-f]{16}$/],
  ])('%j becomes a slug with its hash', (key, name) => {
    expect(folderNameOf(key)).toMatch(name);
  });

  it('never equals the folder of a key that looks like a generated name', () => {
    expect(folderNameOf(folderNameOf('Fox'))).not.toBe(folderNameOf('Fox'));
  });

  it('is safe and unique on file systems that ignore case', () => {
    const near = fc.string({
      unit: fc.constantFrom('a', 'A', '\u00e9', '\u0301', '.', '-', ' ', '/'),
      maxLength: 4,
    });
    const keys = fc.uniqueArray(fc.oneof(near, fc.string({ unit: 'grapheme' })), { maxLength: 60 });
    fc.assert(
      fc.property(keys, (sample) => {
        const names = sample.map(folderNameOf);
        expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(sample.length);
        for (const name of names) expect(name).toMatch(/^[a-z0-9][a-z0-9_-]{0,79}$/);
      }),
    );
  });
});

it('a table of texts takes no two of them for one, and knows each again', () => {
  const table = new KeyTable();
  const texts = Array.from({ length: 200_000 }, (_, at) => `r${at}`);
  expect(texts.filter((text, at) => table.sightText(text, at + 1).nth !== 1)).toEqual([]);
  expect(table.sightText('r7', 200_001)).toEqual({ nth: 2, firstRow: 8 });
});
