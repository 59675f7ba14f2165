// Small workbooks that would fill the memory, the disk or hours.

import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { refusedBy } from '../laying.ts';
import type { Taken } from './unpack-hostile.ts';
import { layBook, sheetsOf, textRow, workbook, type Parts } from './workbooks.ts';

async function unpackedApart(parts: Parts): Promise<Taken> {
  const path = await workbook(parts);
  expect(statSync(path).size).toBeLessThan(2 * 1024 ** 2);
  const { stdout } = await promisify(execFile)(process.execPath, [
    join(import.meta.dirname, 'unpack-hostile.ts'),
    path,
  ]);
  return JSON.parse(stdout) as Taken;
}

const LONG = 'x'.repeat(32_767);

function* repeated(times: number, piece: string, begin = '', end = ''): Generator<string> {
  yield begin;
  const many = Math.ceil((256 * 1024) / piece.length);
  for (let left = times; left > 0; left -= many) yield piece.repeat(Math.min(left, many));
  yield end;
}

const SHEET = '<worksheet><sheetData>';
const END = '</sheetData></worksheet>';
const rows = (times: number, piece: string, begin = '', end = ''): Readable =>
  Readable.from(repeated(times, piece, `${SHEET}${begin}`, `${end}${END}`));

/** Sheets of `bytes` bytes without values. */
const emptySheets = (count: number, bytes: number): Parts =>
  sheetsOf(Array.from({ length: count }, () => `${SHEET}${'<row/>'.repeat(bytes / 6)}${END}`));

const HOSTILE: readonly (readonly [string, () => Parts, RegExp])[] = [
  [
    'lists one part as a hundred sheets',
    () => sheetsOf([`${SHEET}${END}`], 100),
    /has the same cells as another/,
  ],
  ['has sheets that inflate to 40 MiB', () => emptySheets(10, 42e5), /inflates to more than 32 MiB/],
  [
    'has one text of 40 MiB in a cell',
    () => ({
      rows: rows(640, `<t>${'a'.repeat(65_000)}</t>`, '<row><c t="inlineStr"><is>', '</is></c></row>'),
    }),
    /has a text of more than 4 MiB/,
  ],
  [
    'has one value of 40 MiB in pieces',
    () => ({ rows: rows(640, `${'a'.repeat(65_000)}<a/>`, '<row><c t="str"><v>', '</v></c></row>') }),
    /has a text of more than 4 MiB/,
  ],
  [
    'has one shared text of 20 MiB in pieces',
    () => ({ strings: `<si>${`<r><t>${'a'.repeat(65_000)}</t></r>`.repeat(320)}</si>` }),
    /has a text of more than 4 MiB/,
  ],
  [
    'has millions of shared texts without content, and a stored picture that raises the bound of its size',
    () => ({ strings: Readable.from(repeated(25e6, '<si/>', '<sst>', '</sst>')), stored: 15e5 }),
    /has more than 8000000 elements/,
  ],
  [
    'refers a million times to one shared text',
    () => ({ strings: `<si><t>${LONG}</t></si>`, rows: rows(1e6, '<row><c t="s"><v>0</v></c></row>') }),
    /has texts that grow to more than 32 MiB/,
  ],
  ['nests a million elements', () => ({ rows: rows(1e6, '<a>') }), /it nests more than 100 elements/],
  [
    'has a million formats',
    () => ({ cellFormats: `<cellXfs>${'<xf/>'.repeat(1e6)}</cellXfs>` }),
    /has more than 100000 formats/,
  ],
  [
    'has more merged ranges than can be kept',
    () => ({ behind: `<mergeCells>${'<mergeCell ref="A1:B2"/>'.repeat(100_001)}</mergeCells>` }),
    /has more than 100000 merged ranges/,
  ],
  [
    'merges a range with a name of a megabyte',
    () => ({ behind: `<mergeCells><mergeCell ref="${'A'.repeat(1e6)}"/></mergeCells>` }),
    /it has merged cells AAA/,
  ],
  [
    'has more sheets with values than can be compared',
    () => sheetsOf(Array.from({ length: 60 }, (_, at) => `${SHEET}${wideRows(at)}${END}`)),
    /has too many sheets with values/,
  ],
];

/** On a machine that takes longer for everything: as long as so many million elements take there. */
const UNITS = 40;

const wideRows = (at: number): string =>
  textRow(...Array.from({ length: 200 }, () => `${at}${'y'.repeat(99)}`)).repeat(20);

describe('a workbook is refused within 5 s and 1 GB if it', { concurrent: false }, () => {
  it.each(HOSTILE)('%s', async (_, parts, message) => {
    const taken = await unpackedApart(parts());
    expect(taken).toMatchObject({ code: 'E102', message: expect.stringMatching(message) });
    expect(taken.seconds).toBeLessThan(Math.max(5, UNITS * taken.unit));
    expect(taken.mib).toBeLessThan(1000);
    expect(taken.writtenMib).toBeLessThan(50);
  });
});

it('a format of a megabyte costs no time, and means nothing', async () => {
  const cellFormats = `<numFmts><numFmt numFmtId="200" formatCode="${'['.repeat(1e6)}"/></numFmts>`;
  const taken = await unpackedApart({ cellFormats, rows: textRow('a') });
  expect(taken.code).toBeUndefined();
  expect(taken.seconds).toBeLessThan(5);
});

it('a cell in the last column of each row costs the space of one cell', async () => {
  const cells = Array.from(
    { length: 10_000 },
    (_, at) => `<row r="${at + 2}"><c r="XFD${at + 2}"><v>1</v></c></row>`,
  );
  const parts = { rows: textRow('a') + cells.join('') };
  const taken = await unpackedApart(parts);
  expect(taken.code).toBeUndefined();
  expect(taken.seconds).toBeLessThan(5);
  expect(taken.writtenMib).toBeLessThan(1);
  const refused = await refusedBy(layBook(await workbook(parts)));
  expect(refused.problems[0]?.message).toBe(
    'the cell XFD2 has a value, and its column has no name in the header',
  );
});
