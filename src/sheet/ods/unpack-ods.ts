// Writes one sheet of an OpenDocument file as the lines of JSON that an unpacked workbook has. The file has all sheets in one
// part, so it is read twice: for their beginnings, then for the rows of the chosen one.

import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { problem } from '../../errors/error.ts';
import type { SheetHead } from '../xlsx/unpacked-sheet.ts';
import {
  BEGIN_ROWS,
  beginTexts,
  MAX_BEGINS,
  noSheet,
  tableAmong,
  type UnpackParams,
} from '../xlsx/unpack-sheet.ts';
import { parseXml, readXml } from '../xlsx/xml-parts.ts';
import { tooLarge, type Zip, withZip } from '../xlsx/zip-parts.ts';
import { TableReader, type Table, type TableRow } from './ods-rows.ts';

/** Throws E102 if the file cannot be read, has a password, or lacks the sheet. */
export async function unpackOds({ from, file, sheet, to }: UnpackParams): Promise<void> {
  await withZip(from, file, async (zip) => {
    await refuseEncrypted(file, zip);
    const tables = await surveyed(file, zip);
    const visible = tables.filter(({ isVisible }) => isVisible);
    const chosen =
      sheet === undefined
        ? (tableAmong(visible.filter(({ begins }) => begins.length > 0)) ?? visible[0])
        : tables.find(({ name }) => name === sheet);
    if (chosen === undefined)
      throw noSheet(
        file,
        sheet,
        visible.map(({ name }) => name),
      );
    const hasValues = visible.filter((table) => table !== chosen && table.begins.length > 0);
    const otherSheets = sheet === undefined ? hasValues.map(({ name, begins }) => ({ name, begins })) : [];
    const { name, hidden, merged, hiddenColumns } = chosen;
    const head: SheetHead = {
      sheet: name,
      begins: otherSheets.length === 0 ? [] : chosen.begins,
      others: otherSheets,
      merged,
      hidden,
      hiddenColumns,
    };
    const lines = async function* (): AsyncGenerator<string> {
      yield `${JSON.stringify(head)}\n`;
      for await (const row of rowsOf(file, zip, new TableReader(file)))
        if (row.table === chosen.at) yield* linesOf(row, zip.spend);
    };
    await pipeline(lines, createWriteStream(to));
  });
}

/** The lines of equal rows. A short file may stand for any number of them, so their bytes count. */
function* linesOf({ row, cells, isHidden, times }: TableRow, spend: Zip['spend']): Generator<string> {
  const hidden = isHidden ? ',1' : '';
  const content = `${JSON.stringify(cells)}${hidden}]\n`;
  for (let time = 0; time < times; time += 1) {
    spend(content.length);
    yield `[${row + time},${content}`;
  }
}

type SurveyedTable = Table & {
  /** The number of the table in the file, from 0. */
  readonly at: number;
  /** The texts of its first rows with values. */
  readonly begins: readonly (readonly string[])[];
  readonly hidden: number;
};

async function surveyed(file: string, zip: Zip): Promise<readonly SurveyedTable[]> {
  const reader = new TableReader(file);
  const begins = new Map<number, (readonly string[])[]>();
  const hidden = new Map<number, number>();
  let kept = 0;
  for await (const { table, cells, isHidden, times } of rowsOf(file, zip, reader)) {
    if (isHidden) hidden.set(table, (hidden.get(table) ?? 0) + times);
    const rows = begins.get(table) ?? [];
    begins.set(table, rows);
    if (rows.length === BEGIN_ROWS) continue;
    const texts = beginTexts(cells);
    const equal = Math.min(times, BEGIN_ROWS - rows.length);
    rows.push(...Array.from({ length: equal }, () => texts));
    kept += JSON.stringify(texts).length;
    if (kept > MAX_BEGINS) throw tooLarge(file, 'has too many sheets with values');
  }
  return reader.tables.map((table, at) => ({
    ...table,
    at,
    begins: begins.get(at) ?? [],
    hidden: hidden.get(at) ?? 0,
  }));
}

async function* rowsOf(file: string, zip: Zip, reader: TableReader): AsyncGenerator<TableRow> {
  const bytes = await zip.part('content.xml');
  if (bytes === undefined)
    throw problem('E102', { what: `${file} has lost its content` }, { place: { file } });
  const pieces = parseXml(file, bytes, {
    open: (name, attributes) => reader.open(name, attributes),
    close: (name) => reader.close(name),
    text: (text) => reader.text(text),
  });
  for await (const _ of pieces) yield* reader.take();
}

async function refuseEncrypted(file: string, zip: Zip): Promise<void> {
  let isEncrypted = false;
  await readXml(file, await zip.part('META-INF/manifest.xml'), {
    open: (name) => {
      isEncrypted ||= name === 'encryption-data';
    },
  });
  if (isEncrypted)
    throw problem(
      'E102',
      { what: `${file} has a password`, hint: 'save it without a password' },
      { place: { file } },
    );
}
