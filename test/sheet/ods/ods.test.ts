// Sheets of OpenDocument: one of a foreign writer, and small ones that show one trait each.

import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it } from 'vitest';
import { ZipFile } from 'yazl';
import { unpackOds } from '../../../src/sheet/ods/unpack-ods.ts';
import { readCells } from '../../../src/sheet/read-records.ts';
import type { SheetSource } from '../../../src/sheet/sheet-source.ts';
import { sheetHead } from '../../../src/sheet/xlsx/unpacked-sheet.ts';
import { freshFolder } from '../../stage/fresh-folder.ts';
import { readAt } from '../people/reading.ts';

const NAMESPACES = ['office', 'table', 'text', 'draw', 'style', 'xlink', 'calcext', 'manifest']
  .map((name) => `xmlns:${name}="urn:${name}"`)
  .join(' ');

const FILES = join(import.meta.dirname, '..', 'files');
const TYPE = 'application/vnd.oasis.opendocument.spreadsheet';

/** A file with these tables; `styles` precede them. */
async function ods(tables: string, { styles = '', manifest = '', name = 'book.ods' } = {}): Promise<string> {
  const zip = new ZipFile();
  zip.addBuffer(Buffer.from(TYPE), 'mimetype', { compress: false });
  const body = `<office:body><office:spreadsheet>${tables}</office:spreadsheet></office:body>`;
  const content = `<office:document-content ${NAMESPACES}>${styles}${body}</office:document-content>`;
  zip.addBuffer(Buffer.from(content), 'content.xml');
  const manifestText = `<manifest:manifest ${NAMESPACES}>${manifest}</manifest:manifest>`;
  zip.addBuffer(Buffer.from(manifestText), 'META-INF/manifest.xml');
  zip.end();
  const path = join(freshFolder(), name);
  await pipeline(zip.outputStream as Readable, createWriteStream(path));
  return path;
}

const table = (rows: string, attributes = 'table:name="A"'): string =>
  `<table:table ${attributes}>${rows}</table:table>`;
const row = (cells: string, attributes = ''): string =>
  `<table:table-row ${attributes}>${cells}</table:table-row>`;
const textCell = (value: string, attributes = ''): string =>
  `<table:table-cell office:value-type="string" ${attributes}><text:p>${value}</text:p></table:table-cell>`;
const typed = (attributes: string, shown = ''): string =>
  `<table:table-cell ${attributes}><text:p>${shown}</text:p></table:table-cell>`;

async function unpacked(path: string, sheet?: string): Promise<SheetSource> {
  const to = join(freshFolder(), 'sheet.cells');
  await unpackOds({ from: path, file: 'book.ods', sheet, to });
  return { name: 'book.ods', open: () => createReadStream(to) };
}

const OPTIONS = { format: 'ods', map: {}, set: {}, drop: [], types: {} } as const;

async function cellsOf(path: string): Promise<readonly (readonly string[])[]> {
  const { open } = await unpacked(path);
  return Array.fromAsync(readCells(open, OPTIONS));
}

describe('a sheet that odfpy wrote', () => {
  const path = join(FILES, 'odfpy.ods');

  it('has its texts, exact numbers, zeros before a number, and questions about its other sheet and its hidden row', async () => {
    const { rows, guesses } = await readAt(path, { drop: ['when', 'wide'] });
    expect(rows).toEqual([
      '007 {"cfg":7.5,"prompt":"a red  fox\\nin snow","seed":9007}',
      'B2 {"cfg":4,"prompt":"an owl","seed":4}',
    ]);
    expect(guesses.slice(0, 2)).toEqual([
      expect.stringMatching(/^\? sheet "Prompts" is read \(others: "Notes"\)/),
      expect.stringMatching(/^\? 1 hidden row is read too/),
    ]);
  });

  it('is recognised by its bytes under any name', async () => {
    const renamed = await ods(table(row(textCell('prompt')) + row(textCell('a fox'))), {
      name: 'prompts.txt',
    });
    expect((await readAt(renamed, {})).rows).toEqual(['{"prompt":"a fox"}']);
  });
});

describe('a sheet that LibreOffice wrote', () => {
  it('has what its cells show, without notes and boxes, and says where links lead', async () => {
    const source = await unpacked(join(FILES, 'libreoffice.ods'));
    const lines = (await text(source.open())).trimEnd().split('\n').slice(2);
    const noon = ['12:00:00', { is: 'date' }];
    const due = ['2025-12-09T08:30:00', { is: 'date' }];
    const link = (shown: string, address: string) => [shown, { link: `https://${address}.png` }];
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      [
        2,
        [
          'two  spaces and\ttab',
          '9007199254740991',
          '0.3',
          link('see', 'a.example/x'),
          due,
          noon,
          '12.5',
          'true',
          ['', { isPicture: true }],
        ],
      ],
      [3, ['  first line\n\nlast  line', '6', 1, link('pic', 'b.example/y'), ['2025-12-10', { is: 'date' }]]],
      [4, ['hidden', '7'], 1],
      [5, ['a bold fox', '1234567890123456', ['#DIV/0!', { is: 'error' }]]],
    ]);
    expect(await sheetHead(source)).toMatchObject({ hidden: 1, hiddenColumns: [[2, 2]], others: [] });
  });
});

describe('a cell', () => {
  const valueOf = async (cell: string): Promise<string | undefined> =>
    (
      await cellsOf(await ods(table(row(textCell('a') + textCell('b')) + row(`${cell}${textCell('end')}`))))
    )[0]?.[0];

  it.each([
    ['office:value-type="float" office:value="0.1"', '0.10', '0.1'],
    ['office:value-type="float" office:value="7"', '007', '007'],
    ['office:value-type="float" office:value="0.30000000000000004"', '0.3', '0.3'],
    ['office:value-type="float" office:value="9007199254740991"', '9E+015', '9007199254740991'],
    ['office:value-type="currency" office:value="12.5" office:currency="EUR"', '12,50 €', '12.5'],
    ['office:value-type="percentage" office:value="0.25"', '25 %', '0.25'],
    ['office:value-type="boolean" office:boolean-value="false"', 'FALSCH', 'false'],
    ['office:value-type="date" office:date-value="2026-11-30T00:00:00"', '30.11.26', '2026-11-30'],
    ['office:value-type="date" office:date-value="2026-11-30T08:30:00"', 'x', '2026-11-30T08:30:00'],
    ['office:value-type="date" office:date-value="2026-11-30T23:59:59.99"', 'x', '2026-12-01'],
    ['office:value-type="time" office:time-value="PT08H30M00S"', '08:30', '08:30:00'],
    ['office:value-type="string" office:string-value="kept"', 'shown', 'kept'],
  ])('%s has the value of the file, not the shown text %s', async (attributes, shown, value) => {
    expect(await valueOf(typed(attributes, shown))).toBe(value);
  });

  it('has spaces, tabs, line breaks and paragraphs, and no text of its note', async () => {
    const note = '<office:annotation><text:p>a note</text:p></office:annotation>';
    const box = '<draw:g><draw:rect><text:p>a box</text:p></draw:rect></draw:g>';
    const inner = `a  b<text:s text:c="2"/>b<text:tab/>c<text:line-break/>d</text:p>${note}${box}<text:p>e\n   f`;
    expect(await valueOf(textCell(inner))).toBe('a  b  b\tc\nd\ne f');
  });

  it('with an error, with a formula that was never calculated, or with lost digits is refused', async () => {
    for (const cell of [
      '<table:table-cell office:value-type="string" calcext:value-type="error"><text:p>#N/A</text:p></table:table-cell>',
      '<table:table-cell table:formula="of:=A1"/>',
      typed('office:value-type="float" office:value="12345678901234567"', '12345678901234567'),
      typed('office:value-type="float" office:value="1234567890123450"', '1234567890123450'),
      typed('office:value-type="float" office:value="9.00719925474099E+015"', '9,00719925474099E+015'),
    ]) {
      const path = await ods(
        table(row(textCell('prompt') + textCell('seed')) + row(textCell('a fox') + cell)),
      );
      await expect(readAt(path, {})).rejects.toMatchObject({ code: 'E200' });
    }
  });
});

describe('rows and columns', () => {
  it('that repeat are repeated, and empty ones to the end of the sheet cost nothing', async () => {
    const rows =
      row(textCell('a') + textCell('b') + textCell('c')) +
      row(textCell('x', 'table:number-columns-repeated="2"') + textCell('y')) +
      row('<table:table-cell table:number-columns-repeated="16384"/>', 'table:number-rows-repeated="3"') +
      row(textCell('z'), 'table:number-rows-repeated="2"') +
      row('<table:table-cell/>', 'table:number-rows-repeated="1048569"');
    expect(await cellsOf(await ods(table(rows)))).toEqual([
      ['x', 'x', 'y'],
      ['z', '', ''],
      ['z', '', ''],
    ]);
  });

  it('that are hidden are asked about if a column is sent', async () => {
    const columns =
      '<table:table-column table:number-columns-repeated="1"/><table:table-column table:visibility="collapse"/>';
    const rows = row(textCell('prompt') + textCell('seed')) + row(textCell('a fox') + textCell('5'));
    const { guesses } = await readAt(await ods(table(columns + rows)), {});
    expect(guesses).toEqual([
      expect.stringMatching(/^\? column "seed", which the workbook hides, is sent too/),
    ]);
  });

  it('that are merged are refused, with the cells', async () => {
    const merged = textCell('x', 'table:number-rows-spanned="2" table:number-columns-spanned="1"');
    const covered = '<table:covered-table-cell/>';
    const path = await ods(table(row(textCell('prompt')) + row(merged) + row(covered + textCell('y'))));
    await expect(readAt(path, {})).rejects.toMatchObject({
      code: 'E103',
      message: 'the cells A2:A3 are merged',
    });
  });
});

describe('the sheets of a file', () => {
  const both =
    table(row(textCell('a')), 'table:name="A" table:style-name="off"') +
    table(row(textCell('b')), 'table:name="B"');
  const styles =
    '<office:automatic-styles><style:style style:name="off" style:family="table"><style:table-properties table:display="false"/></style:style></office:automatic-styles>';

  it('are read from the first visible one that has values, or from the one with the given name', async () => {
    const path = await ods(both, { styles });
    expect((await sheetHead(await unpacked(path))).sheet).toBe('B');
    expect((await sheetHead(await unpacked(path, 'A'))).sheet).toBe('A');
    await expect(unpacked(path, 'C')).rejects.toMatchObject({
      code: 'E102',
      hint: expect.stringContaining('B') as string,
    });
  });

  it('with a password are refused with this reason', async () => {
    const path = await ods(both, { manifest: '<manifest:encryption-data/>' });
    await expect(unpacked(path)).rejects.toMatchObject({ code: 'E102', message: 'book.ods has a password' });
  });
});

const ERROR =
  '<table:table-cell table:formula="of:=A1" table:number-columns-repeated="160"><text:p/></table:table-cell>';

describe('a hostile file', () => {
  it.each([
    ['a filled cell in every column', row(textCell('x', 'table:number-columns-repeated="9999999"'))],
    ['a filled row beyond the last', row(textCell('x'), 'table:number-rows-repeated="1048577"')],
    ['a number of repetitions that is none', row(textCell('x', 'table:number-columns-repeated="-1"'))],
    ['elements in elements', '<text:span>'.repeat(200)],
    ['errors in millions of equal cells', row(ERROR.repeat(100), 'table:number-rows-repeated="1000000"')],
    ['long texts that repeat', row(textCell('x'.repeat(100_000)), 'table:number-rows-repeated="1000000"')],
  ])('with %s is refused', async (_, rows) => {
    await expect(unpacked(await ods(table(rows)))).rejects.toMatchObject({ code: 'E102' });
  });

  it('with a million repeated rows in each of a thousand sheets is surveyed without repeating them', async () => {
    const million = table(row(textCell('x'), 'table:number-rows-repeated="1048576"'));
    const path = await ods(table(row(textCell('prompt'))) + million.repeat(1000));
    expect((await sheetHead(await unpacked(path))).others).toHaveLength(1000);
  });
});
