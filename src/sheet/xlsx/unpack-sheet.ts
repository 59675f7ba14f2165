// Writes one sheet of a workbook as lines of JSON, which every later reading of the batch uses: a workbook can only be read
// with random access, and only its end says which cells are merged.

import { createReadStream, createWriteStream } from 'node:fs';
import { open, rm, writeFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { isRunsheetError, problem } from '../../errors/error.ts';
import { numberFormats } from './number-formats.ts';
import { SharedStrings } from './shared-strings.ts';
import type { SheetHead } from './unpacked-sheet.ts';
import { readWorkbook, type ListedSheet } from './workbook.ts';
import { worksheetRows, type SheetFacts, type SheetParts, type WorkbookRow } from './worksheet.ts';
import { withZip } from './zip-file.ts';

export type UnpackParams = {
  /** The workbook. */
  readonly from: string;
  /** Its name for messages. */
  readonly file: string;
  /** Default: the first visible sheet that has values. */
  readonly sheet?: string | undefined;
  readonly to: string;
};

/** Throws E102 if the workbook cannot be read. */
export async function unpackSheet(params: UnpackParams): Promise<void> {
  const { from, file, sheet, to } = params;
  await refuseOldFormat(from, file);
  await withZip(from, file, async (zip) => {
    const { sheets, parts, is1904 } = await readWorkbook(file, zip, sheet);
    const strings = await SharedStrings.read(file, zip, parts.strings);
    const formats = await numberFormats(file, zip, parts.styles);
    const partsOf = async ({ target }: ListedSheet): Promise<SheetParts> => {
      const bytes = await zip.part(target);
      if (bytes !== undefined) return { file, bytes, strings, formats, is1904 };
      throw problem('E102', { what: `${file} has lost its sheet` }, { place: { file } });
    };
    const [chosen, ...others] = await withValues(sheets, partsOf);
    const rows = `${to}.rows`;
    try {
      const facts = await writeRows(await partsOf(chosen), rows);
      const head: SheetHead = { sheet: chosen.name, others: others.map(({ name }) => name), ...facts };
      await writeFile(to, `${JSON.stringify(head)}\n`);
      await pipeline(createReadStream(rows), createWriteStream(to, { flags: 'a' }));
    } finally {
      await rm(rows, { force: true });
    }
  });
}

type PartsOf = (sheet: ListedSheet) => Promise<SheetParts>;

/** The sheets with values, or the first one if all are empty. */
async function withValues(
  sheets: readonly [ListedSheet, ...ListedSheet[]],
  partsOf: PartsOf,
): Promise<readonly [ListedSheet, ...ListedSheet[]]> {
  if (sheets.length === 1) return sheets;
  const filled: ListedSheet[] = [];
  for (const sheet of sheets) if (await hasValues(sheet, partsOf)) filled.push(sheet);
  const [first = sheets[0], ...others] = filled;
  return [first, ...others];
}

/** A sheet that cannot be read may have values. */
async function hasValues(sheet: ListedSheet, partsOf: PartsOf): Promise<boolean> {
  try {
    for await (const _ of worksheetRows(await partsOf(sheet))) return true;
    return false;
  } catch (error) {
    if (isRunsheetError(error, 'E102')) return true;
    throw error;
  }
}

async function writeRows(parts: SheetParts, to: string): Promise<SheetFacts> {
  let facts: SheetFacts = { merged: [], hidden: 0 };
  const lines = async function* (): AsyncGenerator<string> {
    const rows = worksheetRows(parts);
    let text = '';
    for (;;) {
      const { value, done } = await rows.next();
      if (done === true) {
        facts = value;
        break;
      }
      text += lineOf(value);
      if (text.length < PIECE) continue;
      yield text;
      text = '';
    }
    yield text;
  };
  await pipeline(lines, createWriteStream(to));
  return facts;
}

const PIECE = 64 * 1024;

const lineOf = ({ row, cells, isHidden }: WorkbookRow): string =>
  `${JSON.stringify(isHidden ? [row, cells, 1] : [row, cells])}\n`;

/** Workbooks of Excel 97, and workbooks with a password, are compound files. */
async function refuseOldFormat(from: string, file: string): Promise<void> {
  const handle = await open(from);
  try {
    const { buffer } = await handle.read(Buffer.alloc(8), 0, 8);
    if (buffer.toString('hex') !== 'd0cf11e0a1b11ae1') return;
    const what = `${file} is an old Excel workbook (.xls), or it has a password`;
    throw problem('E102', { what, hint: 'save it as .xlsx without a password' }, { place: { file } });
  } finally {
    await handle.close();
  }
}
