// Texts that harm some border, each held to all borders.

import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import * as fc from 'fast-check';
import { parseHTML } from 'linkedom';
import { describe, expect, it } from 'vitest';
import {
  csvCell,
  fileName,
  htmlJson,
  markupText,
  markedLine,
  paintedLines,
  shortened,
  terminalJson,
  terminalLine,
  terminalLines,
} from '../../src/errors/outside-text.ts';

const NASTY: readonly (readonly [what: string, text: string, seen: string])[] = [
  ['a formula', '=1+1', '=1+1'],
  ['a formula behind a blank', ' \t=1+1', '  =1+1'],
  ['a formula in wide letters', '＝1+1', '＝1+1'],
  ['a formula behind a hidden sign', '\u200B=1+1', '=1+1'],
  ['a formula on a second line', 'a\r\n=1+1', 'a =1+1'],
  ['colours', '\u001B[31mred\u001B[0m', ' [31mred [0m'],
  ['a title, and the screen cleared', '\u001B]0;x\u0007\u001B[2J', ' ]0;x [2J'],
  ['a control sequence in one sign', 'a\u009B2Jb', 'a 2Jb'],
  ['a line written over', 'paid\rfree', 'paid free'],
  ['backspaces', 'no\b\bok', 'no ok'],
  ['a name turned around', 'photo\u202Egpj.exe', 'photogpj.exe'],
  ['isolates and marks', '\u2066a\u2069\u200F\u061C', 'a'],
  ['signs without a width', 'a\u200Bb\uFEFFc\u2060d\u00ADe', 'abcde'],
  ['words in tags', `a${String.fromCodePoint(0xe0041, 0xe007f)}b`, 'ab'],
  ['line and paragraph separators', 'a\u2028b\u2029c\u0085d', 'a b c d'],
  ['half a sign', 'a\uD800b', 'a\uFFFDb'],
  [
    'markup',
    '</script><img src=x onerror="x" a=\'b\'>&amp;',
    '</script><img src=x onerror="x" a=\'b\'>&amp;',
  ],
  ['a path', '../../etc/passwd\0', '../../etc/passwd '],
];

// oxlint-disable-next-line no-control-regex
const OBEYED = /[\u0000-\u001F\u007F-\u009F\u2028\u2029]|\p{Default_Ignorable_Code_Point}/u;
const FORMULA = /^\s*[=+\-@＝＋－＠]/u;
const any = fc.string({ unit: 'binary', maxLength: 40 });
const texts = fc.oneof(
  any,
  fc
    .array(fc.oneof(any, fc.constantFrom(...NASTY.map(([, text]) => text))), { maxLength: 4 })
    .map((parts) => parts.join('')),
);

describe.each(NASTY)('%s', (_, text, seen) => {
  it('is on a terminal what can be seen of it', () => {
    expect(terminalLine(text)).toBe(seen);
  });

  it('is no formula of a spreadsheet', () => {
    expect(csvCell(text)).toBe(FORMULA.test(seen) ? `'${seen}` : seen);
  });

  it('is a safe name of a file', () => {
    expect(fileName(text)).toMatch(/^[a-z0-9][a-z0-9_-]{0,79}$/);
  });
});

describe('whatever the text is', () => {
  it('a terminal finds nothing to obey, and no more is taken away a second time', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(terminalLine(text)).not.toMatch(OBEYED);
        expect(terminalLine(terminalLine(text))).toBe(terminalLine(text));
        expect(terminalLines(text).replaceAll('\n', '')).not.toMatch(OBEYED);
        expect(markedLine(text).replaceAll('\t', '')).not.toMatch(OBEYED);
      }),
    );
  });

  it('a spreadsheet finds one cell of one line, and no formula', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const [cells] = parse(stringify([[csvCell(text), 'next']]));
        expect(cells).toEqual([csvCell(text), 'next']);
        expect(csvCell(text)).not.toMatch(OBEYED);
        expect(csvCell(text)).not.toMatch(FORMULA);
      }),
    );
  });

  it('a page finds text', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(markupText(text)).not.toMatch(/[<>"']/);
        expect(htmlJson([text])).not.toContain('<');
        expect(JSON.parse(htmlJson([text]))).toEqual([text]);
      }),
    );
    const nasty = NASTY.find(([what]) => what === 'markup')?.[1] ?? '';
    const { document } = parseHTML(`<p title="${markupText(nasty)}">${markupText(nasty)}</p>`);
    expect(document.querySelector('p')?.textContent).toBe(nasty);
    expect(document.querySelector('p')?.getAttribute('title')).toBe(nasty);
    expect(document.querySelectorAll('*')).toHaveLength(1);
  });

  it('JSON on a terminal means the same, and is nothing to obey', () => {
    fc.assert(
      fc.property(fc.dictionary(texts, fc.oneof(texts, fc.integer())), (value) => {
        const json = terminalJson(JSON.stringify(value, undefined, 2));
        expect(json.replaceAll('\n', '')).not.toMatch(OBEYED);
        expect(JSON.parse(json)).toEqual(value);
      }),
    );
  });

  it('no more of it is taken in than fits, and no sign is cut in two', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 20 }), (text, most) => {
        const taken = shortened(text, most);
        expect(taken.length).toBeLessThanOrEqual(most);
        expect(taken.isWellFormed()).toBe(true);
        expect(taken === text).toBe(text.length <= most);
      }),
    );
  });
});

it('letters of every language, and what was written for people, stay as they are', () => {
  for (const text of ['Zoë, 東京, עברית, العربية, हिन्दी, 🎉', 'it\'s 3 > 2 & "fine" · 100 %', '-', 'a-b'])
    expect(terminalLine(text)).toBe(text);
  expect(csvCell('the run failed at: =x')).toBe('the run failed at: =x');
});

it('lines that we painted keep their colours and their ends, and nothing else', () => {
  const red = '\u001B[31mred\u001B[39m';
  expect(paintedLines(`a ${red}\n\u001B[2Jb\u202E\r\n`)).toBe(`a ${red}\n [2Jb \n`);
});

it('what stands in a line of a file keeps its columns', () => {
  expect(markedLine('a\u001B[\tb\u202Ec')).toBe('a\uFFFD[\tb\uFFFDc');
});
