import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { input, refusedBy, thrownBy } from '../laying.ts';
import {
  cellsOf,
  FILES,
  layBook,
  rowNumbers,
  textRow,
  unpacked,
  workbook,
  zipOf,
  type Parts,
} from './workbooks.ts';
import { freshFolder } from '../../stage/fresh-folder.ts';

const file = (name: string): string => join(FILES, `${name}.xlsx`);

/** The second row of a sheet whose header is a, b, c, … */
async function rowOf(cells: string, parts: Parts = {}): Promise<readonly string[]> {
  const header = textRow('a', 'b', 'c', 'd');
  const [, row = []] = await cellsOf(await workbook({ rows: `${header}<row>${cells}</row>`, ...parts }));
  return row;
}

describe('a workbook of openpyxl', () => {
  it('is read from its first visible sheet, with dates, zeros, booleans and gaps', async () => {
    expect(await cellsOf(file('openpyxl'))).toEqual([
      ['prompt', 'seed', 'cfg', 'shot on', 'article', 'public'],
      ['a red fox', '42', '7.5', '2026-11-21', '00017', 'true'],
      ['Äpfel, "Größe"\nzwei', '123456789012345678', '0.25', '2026-11-21T08:30:00', '01234', 'false'],
      ['', '7', '', '', '00005', ''],
    ]);
    expect(await rowNumbers(file('openpyxl'), 6)).toEqual([2, 3, 5]);
  });

  it('gives seeds digit for digit, and numbers without their format', async () => {
    const inputTypes = [
      input('prompt', 'string'),
      input('seed', 'seed'),
      input('article', 'int'),
      input('cfg', 'float'),
    ];
    const { found: rows } = await layBook(file('openpyxl'), {
      inputTypes,
      options: { drop: ['shot on', 'public'], limit: 2 },
    });
    expect(rows.map(({ inputs }) => JSON.stringify(inputs))).toEqual([
      '{"article":17,"cfg":7.5,"prompt":"a red fox","seed":42}',
      String.raw`{"article":1234,"cfg":0.25,"prompt":"Äpfel, \"Größe\"\nzwei","seed":123456789012345678}`,
    ]);
  });

  it('is refused for formulas that were never calculated, with their cells', async () => {
    const refused = await refusedBy(layBook(file('openpyxl'), { options: { drop: ['shot on'] } }));
    expect(refused.problems.map(({ code, message, place }) => [code, place?.cell, message])).toEqual([
      ['E207', 'A5', 'a cell in column "prompt" is a formula without a value'],
      ['E207', 'C5', 'a cell in column "cfg" is a formula without a value'],
    ]);
  });
});

describe('a workbook of XlsxWriter', () => {
  it('is read below its merged title, with joined text runs and the values of formulas', async () => {
    const { found: rows } = await layBook(file('xlsxwriter'), {
      inputTypes: [input('prompt', 'string'), input('seed', 'int')],
      options: { headerRow: 3, keyColumn: 'sku', drop: ['tag'] },
    });
    expect(rows.map(({ key, inputs }) => [key, inputs])).toEqual([
      ['00017', { prompt: 'a red fox', seed: 42 }],
      ['00018', { prompt: 'a red fox!', seed: 999_999_999_999_999 }],
      ['00019', { prompt: 'hidden one', seed: 3 }],
    ]);
  });

  it('is refused for lost digits, errors of Excel and dates where numbers belong', async () => {
    const refused = await refusedBy(
      layBook(file('traps'), {
        inputTypes: [input('prompt', 'string'), input('seed', 'int'), input('cfg', 'float')],
      }),
    );
    expect(refused.problems.map(({ place, message }) => `${place?.cell}: ${message}`)).toEqual([
      expect.stringMatching(
        /^B2: .* is a number of more than 15 digits, some of which the workbook has lost/,
      ),
      'B3: "#DIV/0!" in column "seed" is an error of a formula',
      'B4: "2026-11-21" in column "seed" is a date, not a number',
      'C3: a cell in column "cfg" is a formula without a value',
    ]);
    expect(refused.problems[0]?.hint).toBe('format the column as text, then enter the numbers again');
  });

  it('is refused for merged cells below the header, with the flag by which each row has their value', async () => {
    const error = await thrownBy(layBook(file('merged')));
    expect([error.code, error.message, error.place?.cell]).toEqual([
      'E103',
      'the cells A2:A4 are merged',
      'A2',
    ]);
    expect(error.hint).toMatch(
      /^if each of their rows has the value above: --fill-down prompt; else unmerge/,
    );
    expect(error.correction).toEqual({ add: [['--fill-down', 'prompt']] });
    const filled = await layBook(file('merged'), { options: { fillDown: ['prompt'] } });
    expect(filled.found.map(({ inputs }) => inputs['prompt'])).toEqual(Array(3).fill('three rows'));
  });

  it('gives dates of a calendar that begins in 1904', async () => {
    expect(await cellsOf(file('mac-1904'))).toEqual([
      ['prompt', 'day'],
      ['a', '2026-11-21'],
    ]);
  });
});

describe('cells', () => {
  it('share texts that stand behind the sheet in the zip, without their phonetic guides', async () => {
    const strings =
      '<si><t xml:space="preserve"> one </t></si><si><r><t>two </t></r><r><rPr/><t>runs</t></r></si>' +
      '<si><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></si><si><t>a_x000D_b_x0007_</t></si>';
    const cells = [0, 1, 2, 3].map((at) => `<c t="s"><v>${at}</v></c>`).join('');
    expect(await rowOf(cells, { strings })).toEqual([' one ', 'two runs', '東京', 'a\nb_x0007_']);
  });

  it('without an index of a shared text are empty', async () => {
    const strings = '<si><t>first</t></si>';
    const cells = '<c t="s"><v></v></c><c t="s"/><c t="s"><v/></c><c t="s"><v> 0 </v></c>';
    expect(await rowOf(cells, { strings })).toEqual(['', '', '', 'first']);
  });

  it('stand where their addresses say, also in rows that skip', async () => {
    const rows = `${textRow('a', 'b', 'c')}<row r="7"><c r="C7"><v>1</v></c></row><row><c><v>2</v></c></row>`;
    expect(await cellsOf(await workbook({ rows }))).toEqual([
      ['a', 'b', 'c'],
      ['', '', '1'],
      ['2', '', ''],
    ]);
    expect(await rowNumbers(await workbook({ rows }), 3)).toEqual([7, 8]);
  });

  it('may have names with a prefix', async () => {
    const rows = '<row><c t="inlineStr"><is><t>a</t></is></c></row><row><c><v>5</v></c></row>';
    const more = {
      'xl/worksheets/sheet2.xml': `<x:worksheet xmlns:x="m"><x:sheetData>${rows.replaceAll(/<(\/?)/g, '<$1x:')}</x:sheetData></x:worksheet>`,
    };
    const book = '<workbook xmlns:r="r"><sheets><sheet name="Two" r:id="s2"/></sheets></workbook>';
    expect(await cellsOf(await workbook({ more, workbook: book }))).toEqual([['a'], ['5']]);
  });

  it.each([
    ['0.30000000000000004', 0, '0.3'],
    ['1.0000000000000001E-5', 0, '0.00001'],
    ['4.2000000000000002', 0, '4.2'],
    ['-0', 0, '0'],
    ['25', 1, '25'],
    ['46347', 2, '2026-11-21'],
    ['46347.354166666664', 3, '2026-11-21T08:30:00'],
    ['0.354166666666667', 4, '08:30:00'],
    ['59', 2, '1900-02-28'],
    ['61', 2, '1900-03-01'],
    ['0.25', 5, '0.25'],
    ['7', 6, '007'],
    ['46347', 7, '46347'],
    ['46347', 8, '2026-11-21'],
  ])('show %s in format %i as %s', async (value, style, shown) => {
    const codes = [
      'yyyy\\-mm\\-dd',
      '[$-407]d. mmm yyyy hh:mm',
      'h:mm:ss',
      '000',
      '[Red]#,##0" days"',
      '[$-F800]dddd',
    ];
    const cellFormats =
      `<numFmts>${codes.map((code, at) => `<numFmt numFmtId="${170 + at}" formatCode="${code.replaceAll('"', '&quot;')}"/>`).join('')}</numFmts>` +
      '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>' +
      `<cellXfs>${[0, 2, 170, 171, 172, 10, 173, 174, 175].map((id) => `<xf numFmtId="${id}"/>`).join('')}</cellXfs>`;
    expect((await rowOf(`<c s="${style}"><v>${value}</v></c>`, { cellFormats }))[0]).toBe(shown);
  });
});

describe('a sheet of a workbook', () => {
  const two =
    '<workbook xmlns:r="r"><sheets><sheet name="Old" state="hidden" r:id="s1"/><sheet name="New" r:id="s2"/></sheets></workbook>';
  const more = {
    'xl/worksheets/sheet2.xml': `<worksheet><sheetData>${textRow('new')}</sheetData></worksheet>`,
  };

  it('that does not exist is refused with the names of those that do', async () => {
    const error = await thrownBy(unpacked(await workbook({ workbook: two, more }), 'Nwe'));
    expect([error.code, error.message, error.hint]).toEqual([
      'E102',
      'book.xlsx has no sheet "Nwe"',
      'did you mean New? sheets: New',
    ]);
  });

  it('says in its first line how many of its rows are hidden', async () => {
    const { sheetHead } = await import('../../../src/sheet/xlsx/unpacked-sheet.ts');
    expect(await sheetHead(await unpacked(file('xlsxwriter')))).toEqual({
      sheet: 'Bestellung',
      begins: [],
      others: [],
      merged: ['A1:D1'],
      hidden: 1,
    });
  });

  it('is refused for values beside the named columns', async () => {
    const rows = `${textRow('a', 'b')}${textRow('1', '2', '', 'note')}`;
    const refused = await refusedBy(layBook(await workbook({ rows })));
    expect(refused.problems.map(({ message, place }) => [place?.cell, message])).toEqual([
      ['D2', 'the cell D2 has a value, and its column has no name in the header'],
    ]);
  });
});

function* endlessText(): Generator<Buffer> {
  yield Buffer.from('<worksheet><sheetData><row><c t="str"><v>');
  for (let at = 0; at < 20; at += 1) yield Buffer.alloc(1024 * 1024, 'a');
}

describe('a workbook is refused if', () => {
  it.each<readonly [string, Parts, RegExp]>([
    [
      'it declares a document type',
      { rows: '<!DOCTYPE a [<!ENTITY b "c">]>' },
      /document type|cannot be read/,
    ],
    [
      'its XML is damaged',
      { rows: '<row><c></row>' },
      /^book\.xlsx cannot be read as a workbook: its XML is damaged in line 1, column 102$/,
    ],
    ['it uses an entity', { rows: '<row><c t="str"><v>&b;</v></c></row>' }, /: its XML is damaged in line 1/],
    ['it has a row beyond the last one', { rows: '<row r="1048577"/>' }, /it has a row 1048577/],
    [
      'it has a cell beyond the last column',
      { rows: '<row><c r="XFE1"><v>1</v></c></row>' },
      /it has a cell XFE1/,
    ],
    ['a row repeats', { rows: '<row r="4"/><row r="4"/>' }, /it has a row 4 after row 4/],
    ['a row goes back', { rows: '<row r="4"/><row r="3"/>' }, /it has a row 3 after row 4/],
    ['a row has no whole number', { rows: '<row r="4.5"/>' }, /it has a row 4\.5/],
    ['a cell repeats', { rows: '<row r="4"><c r="A4"/><c r="A4"/></row>' }, /it has a cell A4 in row 4/],
    ['a cell goes back', { rows: '<row r="4"><c r="B4"/><c r="A4"/></row>' }, /it has a cell A4 in row 4/],
    ['a cell is of another row', { rows: '<row r="5"><c r="A4"/></row>' }, /it has a cell A4 in row 5/],
    ...['1.5', '-1', '2', '1e0', 'x'].map((index): [string, Parts, RegExp] => [
      `a cell has the shared text ${index}`,
      {
        rows: `<row><c/><c t="s"><v>${index}</v></c></row>`,
        strings: '<si><t>a</t></si><si><t>b</t></si>',
      },
      /the cell B1 has a shared text \S+ that does not exist/,
    ]),
  ])('%s', async (_, parts, message) => {
    const error = await thrownBy(unpacked(await workbook(parts)));
    expect([error.code, error.message]).toEqual(['E102', expect.stringMatching(message)]);
  });

  it('a document type stands at its head', async () => {
    const rows = Readable.from(['<!DOCTYPE a [<!ENTITY b "c">]><worksheet/>']);
    const error = await thrownBy(unpacked(await workbook({ rows })));
    expect(error.message).toMatch(/it declares a document type/);
  });

  it.each([
    [
      Buffer.from('d0cf11e0a1b11ae1', 'hex'),
      'book.xlsx is an old Excel workbook (.xls), or it has a password',
      'save it as .xlsx without a password',
    ],
    [
      Buffer.from('PK\u0003\u0004 cut off'),
      'book.xlsx is not a complete workbook: it is cut off or damaged',
      'save it again as .xlsx',
    ],
  ])('its bytes are none: %#', async (bytes, message, hint) => {
    const path = join(freshFolder(), 'book.xlsx');
    writeFileSync(path, bytes);
    const error = await thrownBy(unpacked(path));
    expect([error.code, error.message, error.hint]).toEqual(['E102', message, hint]);
  });

  it('the zip file is none of Excel', async () => {
    const refusal = async (...names: readonly string[]) =>
      (await thrownBy(unpacked(await zipOf(names)))).message;
    expect(await refusal('a.csv')).toBe('book.xlsx is a zip file and no Excel workbook');
    expect(await refusal('content.xml', 'mimetype')).toBe('book.xlsx is an OpenDocument sheet');
    expect(await refusal('xl/workbook.bin')).toBe('book.xlsx is a binary workbook (.xlsb)');
  });

  it('all its sheets are hidden', async () => {
    const error = await thrownBy(unpacked(await workbook({ workbook: '<workbook/>' })));
    expect(error.message).toBe('book.xlsx has no visible sheet');
  });

  it('a text in it does not end', async () => {
    const rows = Readable.from(endlessText());
    const error = await thrownBy(unpacked(await workbook({ rows })));
    expect(error.message).toBe('book.xlsx has a text of more than 4 MiB');
  });
});
