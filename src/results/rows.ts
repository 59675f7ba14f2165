// The rows of a batch in the order of the sheet, each with its record once it has one. Parts hold rows in the order of
// their ends, so an index of four bytes a row says which part has which row; pages and a few parts are in memory at once.

import { createInterface } from 'node:readline';
import { parseExactly } from '../batch/digits.ts';
import { partName } from '../batch/ids.ts';
import { pageOf, readPage, type SheetRow } from '../sheet/pages.ts';
import type { BatchFile } from '../store/batch-file.ts';
import { RecentlyRead, type Parsed } from '../store/recently-read.ts';
import type { Store } from '../store/store.ts';
import type { RowRecord } from './record.ts';

export type BatchRow = { readonly row: SheetRow; readonly record: RowRecord | undefined };

/** Parts kept in memory: rows of one page lie in few parts, unless they were tried again much later. */
const PARTS_KEPT = 64;
const PARTS_BYTES = 64 * 1024 * 1024;

const ROW_NUMBER = /^\{"row":(\d+),/;

/** Rows `from` to `to` (1-based, both included), in order; works while the batch runs. */
export async function* rowsOf(
  store: Store,
  file: Pick<BatchFile, 'sheet'>,
  { from = 1, to = file.sheet.rows }: { readonly from?: number; readonly to?: number } = {},
): AsyncGenerator<BatchRow> {
  const partOf = await indexParts(store, file.sheet.rows);
  const parts = partReader(store);
  for (let page = pageOf(from); page <= pageOf(to); page += 1) {
    for (const row of await readPage(store, page)) {
      if (row.row < from || row.row > to) continue;
      const part = partOf[row.row] ?? 0;
      yield { row, record: part === 0 ? undefined : (await parts(part)).get(row.row) };
    }
  }
}

/** One row; undefined where the batch has no such row. */
export async function rowOf(
  store: Store,
  file: Pick<BatchFile, 'sheet'>,
  number: number,
): Promise<BatchRow | undefined> {
  if (number < 1 || number > file.sheet.rows) return undefined;
  for await (const row of rowsOf(store, file, { from: number, to: number })) return row;
  return undefined;
}

/** The record of a row that was never sent. */
export function recordOf({ row, record }: BatchRow): RowRecord {
  if (record !== undefined) return record;
  return {
    row: row.row,
    key: row.key,
    outcome: 'cancelled',
    reason: 'cancelled before it was sent',
    ...(row.gpu === undefined ? {} : { gpu_asked: row.gpu }),
    inputs: row.inputs,
    attempts: [],
    files: [],
  };
}

/** For each row the part that holds it; 0 where none does. */
async function indexParts(store: Store, rows: number): Promise<Uint32Array> {
  const partOf = new Uint32Array(rows + 1);
  for (const name of await store.list('parts')) {
    const part = Number.parseInt(name, 10);
    for await (const line of createInterface({ input: store.open(`parts/${name}`) })) {
      const row = Number(ROW_NUMBER.exec(line)?.[1] ?? 0);
      if (row <= rows) partOf[row] = part;
    }
  }
  return partOf;
}

type Part = ReadonlyMap<number, RowRecord>;

function partReader(store: Store): (part: number) => Promise<Part> {
  const parts = new RecentlyRead<Part>(PARTS_KEPT, PARTS_BYTES);
  return (part) => parts.get(partName(part), () => readPart(store, part));
}

async function readPart(store: Store, part: number): Promise<Parsed<Part>> {
  const text = (await store.read(partName(part))) ?? '';
  const records = text
    .split('\n')
    .filter(Boolean)
    .map((line) => parseExactly(line) as RowRecord);
  return { value: new Map(records.map((record) => [record.row, record])), bytes: Buffer.byteLength(text) };
}
