// Texts of some hundred kilobytes that a pattern could read in the square of their length, or a row many times. Each takes a fraction of the
// time that it is given here; with the square it would be minutes.

import { expect, it } from 'vitest';
import type { RunsheetError } from '../../../src/errors/error.ts';
import { valuesIn } from '../../../src/sheet/grid/expanded-rows.ts';
import { read } from './reading.ts';

const LONG = 300_000;
const SOON = 90_000;
const cells = (...texts: readonly string[]): string => `prompt,seed\n${texts.join(',')}\n`;

it.each([
  ['blanks at the begin of a field in quotes', 'a.csv', cells(`"${' '.repeat(LONG)}--ar 1"`, '1')],
  ['opening brackets', 'a.csv', cells('('.repeat(LONG), '1')],
  ['the begins of lists', 'a.csv', cells('a', `"${'['.repeat(LONG)}"`)],
  ['the begins of links', 'a.csv', cells('[a]('.repeat(LONG), '1')],
  ['digits before a total', 'a.csv', `${cells('a', '1')}${'1'.repeat(LONG)}!,Total\n`],
  ['digits in a row that is too long', 'a.csv', `${cells('a', '1')}b,${' '.repeat(LONG)}x,1,2\n`],
  ['quotes around very many cells', 'a.csv', cells(`${"'a',".repeat(1200_000)}1`)],
  ['quotes that very many cells do not close', 'a.csv', cells(`${"'a,".repeat(1200_000)}1`)],
  ['lists within lists', 'a.json', '['.repeat(LONG)],
  ['objects within objects', 'a.json', '{"a":'.repeat(LONG)],
  ['lists within lists in a line', 'a.jsonl', '['.repeat(LONG)],
  ['lists within lists in a row', 'a.json', `[{"prompt":"a","b":${'['.repeat(LONG)}${']'.repeat(LONG)}}]`],
])(
  '%s are read in a time that grows with their length',
  async (_, name, text) => {
    const format = name.endsWith('csv') ? {} : ({ format: name.endsWith('l') ? 'jsonl' : 'json' } as const);
    const ended = await read(name, text, format).then(
      () => 'read',
      (error: unknown) => error,
    );
    expect([ended, (ended as RunsheetError).code]).toContainEqual(expect.stringMatching(/^(?:read|E\d+)$/));
  },
  SOON,
);

it(
  'addresses and blanks in a cell are separated in such a time',
  () => void expect(valuesIn(`https://example.org/a.png${' '.repeat(LONG)}b`, false)).toHaveLength(1),
  SOON,
);

it(
  'a cell of megabytes fills only some hundred rows below it',
  async () => {
    const text = cells('x'.repeat(3_000_000), '1') + ',1\n'.repeat(200_000);
    await expect(read('a.csv', text, { fillDown: ['prompt'] })).rejects.toThrow('1 problem in 12 rows');
  },
  2 * SOON,
);
