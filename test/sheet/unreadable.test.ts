import { createReadStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { layOut } from '../../src/sheet/sheet.ts';
import { formatOf } from '../../src/sheet/recognized-format.ts';
import { sheetNotFound } from '../../src/sheet/sheet-source.ts';
import {
  ERRORS_FILE,
  errorsIn,
  freshStore,
  lay,
  PLAIN,
  type Sheet,
  thrownBy,
  type Unreadable,
  unreadableWith,
} from './laying.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const json = { format: 'json' } as const;
const jsonl = { format: 'jsonl' } as const;
const latin1 = Buffer.from('a,b\nx,y\nx,caf\u00e9 au lait\n', 'latin1');
const mebibytes = (n: number): string => 'x'.repeat(n * 1024 * 1024);

const unreadable: readonly Unreadable[] = [
  ['bytes that are not UTF-8', { text: latin1 }, 'E102 3:-', /^line 3 of sheet.csv is not UTF-8 text$/],
  [
    'bytes that are not UTF-8 below a damaged character that is',
    { text: Buffer.concat([Buffer.from('a,b\n\ufffd,y\n'), latin1]) },
    'E102 5:-',
    /^line 5 /,
  ],
  [
    'a character that the end cuts',
    { text: Buffer.from('a\n\u00e9').subarray(0, 3) },
    'E102 2:-',
    /^line 2 /,
  ],
  [
    'bytes that are not UTF-8 in JSON',
    { text: Buffer.from('{"a":"x"}\n{"a":"\u00e9"}', 'latin1'), options: jsonl },
    'E102 2:7',
    /^line 2 /,
  ],
  [
    'a NUL character',
    { text: 'a,b\n1,x\0y\n' },
    'E102 2:-',
    /NUL character \(U\+0000\) is at character 4 of line 2/,
  ],
  [
    'a control character',
    { text: '{"a":1}\r\n{"a":"\u001b"}', options: jsonl },
    'E102 2:7',
    /control character \(U\+001B\)/,
  ],
  ['an Excel workbook', { text: 'PK\u0003\u0004rest' }, 'E102 -:-', /Excel workbook/],
  ['a compressed sheet', { text: Buffer.of(0x1f, 0x8b, 8, 0) }, 'E102 -:-', /gzip/],
  [
    'a cell of 5 MiB in quotes',
    { text: `a,b\n1,2\n3,"${mebibytes(5)}"\n4,5\n` },
    'E103 3:-',
    /longer than 4 MiB/,
  ],
  ['a record of 5 MiB', { text: `a,b\n1,2\n3,${mebibytes(5)}\n4,5\n` }, 'E103 3:-', /longer than 4 MiB/],
  [
    'a JSON line of 5 MiB',
    { text: `{"a":1}\n{"a":"${mebibytes(5)}"}\n`, options: jsonl },
    'E103 2:-',
    /longer than 4 MiB/,
  ],
  [
    'an element of 5 MiB',
    { text: `[1, {"a":"${mebibytes(5)}"}]`, options: json },
    'E103 1:5',
    /longer than 4 MiB/,
  ],
  ['an empty file', { text: '' }, 'E104 -:-', /^the sheet is empty$/],
  ['nothing but blank lines', { text: '\n\r\n  \n' }, 'E104 -:-', /^the sheet is empty$/],
  ['an empty JSON file', { text: ' \n', options: json }, 'E104 -:-', /^the sheet is empty$/],
  ['a header and no rows', { text: 'a,b\n' }, 'E104 -:-', /^the sheet has a header and no rows$/],
  ['an empty array', { text: '[ ]', options: json }, 'E104 -:-', /^the sheet has no rows$/],
  ['no line of JSON', { text: '\n', options: jsonl }, 'E104 -:-', /^the sheet has no rows$/],
  ['__proto__', { text: 'a,__proto__\n1,2\n' }, 'E104 1:2', /is reserved/],
  ['constructor', { text: '{"a":1}\n{"b":1, "constructor":2}', options: jsonl }, 'E104 2:9', /is reserved/],
  ['a nameless member', { text: '[{"":1}]', options: json }, 'E104 1:3', /^a column has no name$/],
  [
    'a name of 201 characters',
    { text: `a,${'b'.repeat(201)}\n1,2\n` },
    'E104 1:2',
    /^the name of a column is longer than 200 characters: b+…$/,
  ],
  [
    'a name of 201 characters in JSON',
    { text: `{"a":1,"${'b'.repeat(201)}":2}\n`, options: jsonl },
    'E104 1:8',
    /longer than 200 characters/,
  ],
  [
    'more than 1000 columns',
    { text: `${Array.from({ length: 1001 }, (_, n) => `c${n}`).join(',')}\n` },
    'E104 1:1001',
    /^the header names more than 1000 columns$/,
  ],
  [
    'values where names belong',
    { text: `[${Array.from({ length: 1001 }, (_, n) => `{"n${n}":1}`).join(',\n')}]`, options: json },
    'E104 1001:2',
    /more than 1000 different names/,
  ],
  ['an object for an array', { text: '\n{"a":1}', options: json }, 'E103 2:1', /does not begin with \[/],
  [
    'an array that is not closed',
    { text: '[{"a":1}\n', options: json },
    'E103 2:1',
    /\] is missing at the end/,
  ],
  [
    'an array that breaks',
    { text: '[{"a":1},\n {"a":tru}]', options: json },
    'E103 2:7',
    /expected a value, found tru/,
  ],
  [
    'a string that is not closed',
    { text: '[{"a":"x}]', options: json },
    'E103 1:7',
    /string that is not closed/,
  ],
  ['a brace too many', { text: '[{"a":1}},\n{"a":2}]', options: json }, 'E103 1:9', /expected a comma or \]/],
  ['a comma at the end', { text: '[{"a":1},\n]', options: json }, 'E103 2:1', /expected a row/],
  [
    'two values without a comma',
    { text: '[{"a":1} {"a":2}]', options: json },
    'E103 1:10',
    /expected the end/,
  ],
  [
    'a text behind the array',
    { text: '[{"a":1}]\n[]', options: json },
    'E103 2:1',
    /after the end of the array/,
  ],
  [
    'single quotes in every line',
    { text: "{'a':1}\n{'a':2}\n", options: jsonl },
    'E103 1:2',
    /a name in quotes/,
  ],
];

unreadableWith(unreadable);

describe('the error of an unreadable sheet', () => {
  it('contains a hint', async () => {
    const hintOf = async (sheet: Sheet) => (await thrownBy(lay(sheet))).hint;
    expect(await hintOf({ text: latin1 })).toContain('--encoding windows-1252');
    expect(await hintOf({ text: '{"a":1}\n', options: json })).toContain('--format jsonl');
  });

  it('shows the line', async () => {
    const error = await thrownBy(lay({ text: latin1 }));
    expect(error.place?.excerpt).toBe('x,caf\ufffd au lait');
    const nul = await thrownBy(lay({ text: 'a,b\n1,x\0y\n' }));
    expect(nul.place?.excerpt).toBe('1,x\ufffdy');
  });

  it('replaces the problems of rows, and no list of them remains', async () => {
    const store = freshStore();
    const error = await thrownBy(lay({ text: `a,gpu\n1,Z\n${mebibytes(5)},x\n` }, store));
    expect(error.code).toBe('E103');
    expect(await store.exists(ERRORS_FILE)).toBe(false);
  });
});

describe('a missing sheet', () => {
  const folder = (): string => {
    const path = freshFolder();
    for (const name of ['prompts.csv', 'notes.txt', 'more.jsonl', '.hidden.csv'])
      writeFileSync(join(path, name), 'a\n');
    return path;
  };

  it('is reported with its absolute path and with similar files', async () => {
    const path = join(folder(), 'promts.csv');
    expect(await sheetNotFound(path)).toMatchObject({
      code: 'E101',
      message: `there is no sheet at ${path}`,
      hint: 'did you mean prompts.csv, more.jsonl?',
    });
  });

  it('is also reported while pages are written, and in a missing folder', async () => {
    const path = join(folder(), 'absent', 'prompts.csv');
    const source = { name: 'prompts.csv', open: () => createReadStream(path) };
    const store = freshStore();
    const error = await thrownBy(
      layOut({ source, options: PLAIN, inputTypes: undefined, store, errors: errorsIn(store) }),
    );
    expect(error).toMatchObject({ code: 'E101', message: `there is no sheet at ${path}` });
    expect(error?.hint).toContain('check the path');
  });
});

describe('the format of a sheet', () => {
  it.each([
    ['a.csv', '{', 'csv'],
    ['a.TSV', '', 'tsv'],
    ['a.jsonl', '', 'jsonl'],
    ['a.ndjson', '', 'jsonl'],
    ['a.json', '{', 'json'],
    ['a.json', '{"a":1}\r\n\n{"a":2}', 'jsonl'],
    ['a.json', '{"a":1}\n', 'json'],
    ['a', '\ufeff \n{"a":1}', 'jsonl'],
    ['a.txt', ' [', 'json'],
    ['a.txt', '[\n  {"a": 1,}', 'json'],
    ['a.txt', '["a fox", "an owl"]', 'json'],
    ['a.txt', "[{'prompt': 'a fox'}]", 'json'],
    ['stdin', '{"a', 'jsonl'],
    ['stdin', '{}\n{"a":1}', 'jsonl'],
    ['a.txt', '[Intro]\nHello', 'csv'],
    ['a.txt', '[00:12] Hello', 'csv'],
    ['a.txt', '[12] a fox', 'csv'],
    ['a.txt', '["Hello"] she said', 'csv'],
    ['a.txt', '[] to do', 'csv'],
    ['a.txt', '[[oil]] fox', 'csv'],
    ['a.txt', '{red|blue} fox\n{old|young} owl', 'csv'],
    ['a.txt', '{"red"|"blue"} fox', 'csv'],
    ['a.txt', '{{fox}}, oil', 'csv'],
    ['stdin', '{red|blue} fox', 'csv'],
    ['a.json', '[Intro]', 'json'],
    ['-', 'a,b\n', 'csv'],
    ['-', '', 'csv'],
    ['a.constructor', 'x', 'csv'],
  ])('of %s with %j is %s', (name, bytes, format) => {
    expect(formatOf(name, Buffer.from(bytes))).toBe(format);
  });
});
