// Sheets whose encoding or delimiter differs from the one given.

import { describe, expect, it } from 'vitest';
import { lay, thrownBy, type Unreadable, unreadableWith } from './laying.ts';

const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le');
const utf32 = (text: string): Buffer =>
  Buffer.from(Uint32Array.from(text, (character) => character.codePointAt(0) ?? 0).buffer);

const foreign: readonly Unreadable[] = [
  ['UTF-16 with its mark', { text: utf16('\ufeffa,b\n1,2\n'), chunk: 9 }, 'E102 -:-', /is UTF-16, not UTF-8/],
  ['UTF-16 without a mark', { text: utf16('a,b\n1,2\n') }, 'E102 -:-', /is UTF-16, not UTF-8/],
  ['UTF-16 of Chinese', { text: utf16('提示,种子\n狐狸在雪中,1\n') }, 'E102 -:-', /is UTF-16, not UTF-8/],
  [
    'UTF-16 that is said to be another encoding',
    { text: utf16('a,b\n1,2\n'), options: { encoding: 'latin1' } },
    'E102 -:-',
    /is UTF-16, not WINDOWS-1252/,
  ],
  [
    'UTF-8 that is said to be UTF-16',
    { text: 'prompt,seed\na fox,1\n', options: { encoding: 'utf-16le' } },
    'E102 -:-',
    /is not UTF-16LE: it looks like UTF-8/,
  ],
  ['a web page', { text: '\n<!DOCTYPE html><html>\n<body>a,b\n' }, 'E102 -:-', /is a web page, not a sheet/],
  ['UTF-32 with its mark', { text: utf32('\ufeffa,b\n1,2\n') }, 'E102 -:-', /is UTF-32, not UTF-8/],
  ['UTF-32 the other way round', { text: utf32('\ufeffa,b\n').swap32() }, 'E102 -:-', /is UTF-32, not UTF-8/],
  ['UTF-32 without a mark', { text: utf32('a,b\n1,2\n') }, 'E102 -:-', /is UTF-32, not UTF-8/],
  [
    'half a character of UTF-16',
    { text: utf16('a\nb').subarray(0, 5), options: { encoding: 'utf-16le' } },
    'E102 2:-',
    /^line 2 .* is not UTF-16LE text/,
  ],
  [
    'semicolons',
    { text: '\na;b\n1;2\n' },
    'E102 2:1',
    /^the header has no commas; the file looks separated by semicolons$/,
  ],
  ['tabs in a .csv', { text: 'a\tb\n1\t2\n' }, 'E102 1:1', /no commas; .* separated by tabs$/],
  [
    'commas in a .tsv',
    { text: 'a,b\n1,2\n', options: { format: 'tsv' } },
    'E102 1:1',
    /no tabs; .* separated by commas$/,
  ],
  ['semicolons around quotes', { text: '"a";"b"\n"1";"2"\n' }, 'E102 1:1', /separated by semicolons/],
  ['semicolons, and quotes further down', { text: 'a;b\n"x; y";2\n' }, 'E102 1:1', /separated by semicolons/],
  ['semicolons, and quotes in a field', { text: 'a;b\nsay "x";2\n' }, 'E102 1:1', /separated by semicolons/],
  [
    'tabs and quotes, in UTF-16',
    { text: utf16('\ufeff"a"\t"b"\r\n"1"\t"2"\r\n'), options: { encoding: 'utf-16le' } },
    'E102 1:1',
    /separated by tabs/,
  ],
  [
    'a delimiter that was given and is another one',
    { text: '"a,b";"c"\n1;2\n', options: { delimiter: ',' } },
    'E102 1:1',
    /separated by semicolons/,
  ],
];

unreadableWith(foreign);

describe('the hint', () => {
  it.each([
    ['add --encoding utf-16le', { text: utf16('\ufeffa\n1') }],
    ['add --encoding utf-16be', { text: utf16('\ufeffa\n1').swap16() }],
    ['add --encoding utf-16be', { text: utf16('a,b\n1,2').swap16() }],
    ['iconv -f UTF-32 -t UTF-8', { text: utf32('\ufeffa\n1') }],
    ['remove --encoding', { text: 'a,b\n1,2\n', options: { encoding: 'utf-16be' } }],
    [`add --delimiter ';'`, { text: 'a;b\n1;2\n' }],
    ['add --delimiter tab', { text: 'a\tb\n1\t2\n' }],
    [`add --delimiter '|'`, { text: 'a|b\n1|2\n' }],
  ] as const)('names %s', async (words, sheet) => {
    expect((await thrownBy(lay(sheet))).hint).toContain(words);
  });

  it('is empty if the user names the delimiter and the sheet has a single column', async () => {
    const laidOut = await lay({ text: 'a;b\n1\n', options: { delimiter: ',' } });
    expect(laidOut.columns).toEqual(['a;b']);
  });
});
