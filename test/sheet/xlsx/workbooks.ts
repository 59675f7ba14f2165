// Workbooks for tests: made of the XML that a test gives, or read from test/sheet/files.

import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import { columnsOf, readCells, recordsOf } from '../../../src/sheet/read-records.ts';
import { layOut, type LaidOut } from '../../../src/sheet/sheet.ts';
import { readPage, type SheetRow } from '../../../src/sheet/pages.ts';
import type { SheetSource, SheetOptions } from '../../../src/sheet/sheet-source.ts';
import { unpackSheet } from '../../../src/sheet/xlsx/unpack-sheet.ts';
import { collected, errorsIn, freshStore, PLAIN, type Sheet } from '../laying.ts';
import { freshFolder } from '../../stage/fresh-folder.ts';

const XLSX: SheetOptions = { ...PLAIN, format: 'xlsx' };

export const FILES = join(import.meta.dirname, '..', 'files');

export type Parts = {
  /** The content of `<sheetData>`. */
  readonly rows?: string | Readable;
  readonly behind?: string;
  /** A stream: the whole part. */
  readonly strings?: string | Readable;
  /** Bytes of a part that is stored uncompressed. */
  readonly stored?: number;
  readonly cellFormats?: string;
  readonly workbook?: string;
  /** Further relations of the workbook. */
  readonly relations?: string;
  readonly more?: Readonly<Record<string, string>>;
};

const REL = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';

/** A workbook with one sheet; its shared strings stand behind it in the zip. */
export async function workbook(parts: Parts): Promise<string> {
  const {
    rows = '',
    behind = '',
    strings,
    stored,
    cellFormats = '',
    workbook: book,
    relations = '',
    more = {},
  } = parts;
  const zip = new ZipFile();
  const add = (name: string, text: string): void => zip.addBuffer(Buffer.from(text), name);
  add(
    '_rels/.rels',
    `<Relationships><Relationship Id="a" Type="${REL}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  );
  add(
    'xl/workbook.xml',
    book ??
      `<workbook ${MAIN} xmlns:r="${REL}"><sheets><sheet name="One" sheetId="1" r:id="s1"/></sheets></workbook>`,
  );
  add(
    'xl/_rels/workbook.xml.rels',
    `<Relationships><Relationship Id="s1" Type="${REL}/worksheet" Target="worksheets/sheet1.xml"/>` +
      `<Relationship Id="s2" Type="${REL}/worksheet" Target="/xl/worksheets/sheet2.xml"/>` +
      `<Relationship Id="t" Type="${REL}/sharedStrings" Target="sharedStrings.xml"/>` +
      `<Relationship Id="f" Type="${REL}/styles" Target="styles.xml"/>${relations}</Relationships>`,
  );
  if (typeof rows === 'string')
    add('xl/worksheets/sheet1.xml', `<worksheet ${MAIN}><sheetData>${rows}</sheetData>${behind}</worksheet>`);
  else zip.addReadStream(rows, 'xl/worksheets/sheet1.xml');
  if (stored !== undefined) zip.addBuffer(Buffer.alloc(stored), 'xl/media/image1.png', { compress: false });
  if (typeof strings === 'object') zip.addReadStream(strings, 'xl/sharedStrings.xml');
  else if (strings !== undefined) add('xl/sharedStrings.xml', `<sst ${MAIN}>${strings}</sst>`);
  add('xl/styles.xml', `<styleSheet ${MAIN}>${cellFormats}</styleSheet>`);
  for (const [name, text] of Object.entries(more)) add(name, text);
  return zipped(zip);
}

/** Parts of a workbook with these sheets; each of them is listed so often. */
export function sheetsOf(sheets: readonly string[], times = 1): Parts {
  const ids = sheets.map((_, at) => `m${at}`);
  const listed = ids.flatMap((id) => Array.from({ length: times }, (_, at) => [id, at]));
  return {
    workbook: `<workbook ${MAIN} xmlns:r="${REL}"><sheets>${listed.map(([id, at]) => `<sheet name="${id}-${at}" r:id="${id}"/>`).join('')}</sheets></workbook>`,
    relations: ids
      .map((id) => `<Relationship Id="${id}" Type="${REL}/worksheet" Target="${id}.xml"/>`)
      .join(''),
    more: Object.fromEntries(sheets.map((xml, at) => [`xl/${ids[at]}.xml`, xml])),
  };
}

/** A zip file of empty parts with these names. */
export async function zipOf(names: readonly string[]): Promise<string> {
  const zip = new ZipFile();
  for (const name of names) zip.addBuffer(Buffer.alloc(0), name);
  return zipped(zip);
}

async function zipped(zip: ZipFile): Promise<string> {
  zip.end();
  const path = join(freshFolder(), 'book.xlsx');
  await pipeline(zip.outputStream as Readable, createWriteStream(path));
  return path;
}

/** A row of inline texts. */
export const textRow = (...texts: readonly string[]): string =>
  `<row>${texts.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join('')}</row>`;

export async function unpacked(path: string, sheet?: string): Promise<SheetSource> {
  const to = join(freshFolder(), 'sheet.cells');
  await unpackSheet({ from: path, file: 'book.xlsx', sheet, to });
  return { name: 'book.xlsx', open: () => createReadStream(to) };
}

/** Every row of the sheet as texts, the header first. */
export async function cellsOf(path: string, sheet?: string): Promise<readonly (readonly string[])[]> {
  const { open } = await unpacked(path, sheet);
  const header = (await columnsOf({ name: 'book.xlsx', open }, XLSX)).map(({ name }) => name);
  return [header, ...(await collected(readCells(open, XLSX)))];
}

/** The row of Excel of each record. */
export async function rowNumbers(path: string, width: number): Promise<readonly number[]> {
  const names = Array.from({ length: width }, String);
  return (await collected(recordsOf(await unpacked(path), XLSX, names))).map(({ line }) => line);
}

export async function layBook(
  path: string,
  more: Pick<Sheet, 'options' | 'inputTypes'> = {},
): Promise<LaidOut & { readonly found: readonly SheetRow[] }> {
  const store = freshStore();
  const laidOut = await layOut({
    source: await unpacked(path, more.options?.sheet),
    options: { ...XLSX, ...more.options },
    inputTypes: more.inputTypes,
    store,
    errors: errorsIn(store),
  });
  const sheetRows: SheetRow[] = [];
  for (let page = 1; page <= laidOut.pages; page += 1) sheetRows.push(...(await readPage(store, page)));
  return { ...laidOut, found: sheetRows };
}
