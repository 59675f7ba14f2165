// Reads the rows of a batch in the order of the sheet, each with its record if it has one. Parts contain rows in the order in
// which they ended, so an index of four bytes per row finds the part of a row. A later part's record wins, because a rebuilt
// batch may write a row again.

import { createInterface } from 'node:readline';
import type { AttemptRef } from '../batch/attempt.ts';
import { changedInputs } from '../sheet/input-change.ts';
import { readBatchSheet, sheetRows, type FoundRow } from '../sheet/batch-sheet.ts';
import { queuedAt, queueNameOf, readQueuePage, rowAtOnce, type Queued } from '../sheet/queue.ts';
import { layoutOf, type BatchFile } from '../store/batch-file.ts';
import { RecentlyRead, type Parsed } from '../store/recently-read.ts';
import type { Store } from '../store/store.ts';
import { isReusedPart, parsePart, PARTS } from './parts.ts';
import { placeOf, type PartRecord, type RowRecord } from './row-record.ts';

/** `part`: the name of the part with the record. */
export type BatchRow = FoundRow & {
  readonly record: PartRecord | undefined;
  readonly part?: string | undefined;
};

type Pages = Pick<BatchFile, 'mark' | 'sheet'>;

/** Parts in memory: the rows of a page are in few parts, unless they were retried much later. */
const PARTS_KEPT = 64;
const PARTS_BYTES = 64 * 1024 * 1024;

const ROW_NUMBER = /^\{"row":(\d+),/;

type Wanted = {
  readonly from?: number;
  readonly to?: number;
  /** The newest pass whose rows are read (default: all). */
  readonly through?: number | undefined;
};

/** Rows `from` to `to` (1-based, both included), in order; works while the batch runs. */
export async function* rowsOf(
  store: Store,
  file: Pages,
  { from = 1, to, through }: Wanted = {},
): AsyncGenerator<BatchRow> {
  const sheet = await readBatchSheet(store, file, through);
  const partOf = await indexParts(store, sheet.rows);
  for await (const found of sheetRows(layoutOf(store, file), sheet, from, to ?? sheet.rows))
    yield { ...found, ...(await partOf(found.row.row)) };
}

/** How many rows the batch has, with those of all passes or of those up to `through`. */
export const countRows = async (store: Store, file: Pages, through?: number): Promise<number> =>
  (await readBatchSheet(store, file, through)).rows;

/** One row; undefined if the batch has no such row. */
export async function rowOf(store: Store, file: Pages, number: number): Promise<BatchRow | undefined> {
  for await (const row of rowsOf(store, file, { from: number, to: number })) return row;
  return undefined;
}

/** The record of a row; without one, the record of a row that was never sent. */
export function recordOf({ row, record }: Pick<BatchRow, 'row' | 'record'>): RowRecord {
  const { outcome, reason, attempts, files, texts, reused_from, gpu_asked = row.gpu } = record ?? NEVER_SENT;
  return {
    row: row.row,
    key: row.key,
    outcome,
    ...(reason === undefined ? {} : { reason }),
    ...(gpu_asked === undefined ? {} : { gpu_asked }),
    inputs: changedInputs(row.inputs, record?.change),
    attempts,
    files,
    ...(texts === undefined ? {} : { texts }),
    ...(reused_from === undefined ? {} : { reused_from }),
  };
}

const NEVER_SENT: Omit<PartRecord, 'row'> = {
  outcome: 'cancelled',
  reason: 'cancelled before it was sent',
  attempts: [],
  files: [],
};

/** The records of all rows with a place, oldest first. */
export async function* recordsOf(store: Store): AsyncGenerator<PartRecord & { readonly place: number }> {
  for (const name of await store.list(PARTS))
    if (!isReusedPart(name))
      for (const record of parsePart((await store.read(`${PARTS}/${name}`)) ?? ''))
        yield { ...record, place: placeOf(record) };
}

/** The row and the attempt that people know: attempts of a row that was sent again are counted on. */
export async function nameOf(
  store: Store,
  file: Pages,
  { place, attempt }: AttemptRef,
): Promise<{ readonly row: number; readonly attempt: number }> {
  const row = rowAtOnce(file.sheet, place);
  if (row !== undefined) return { row, attempt };
  const layout = layoutOf(store, file);
  const isKnown = await layout.exists(queueNameOf(place));
  const queued = isKnown ? queuedAt((await readQueuePage(layout, place)).value, place) : undefined;
  // A forged token may name a place that the batch does not have.
  if (queued === undefined) return { row: 0, attempt };
  const before = await recordsBefore(store)(queued);
  return { row: queued.row, attempt: (before?.attempts.at(-1)?.attempt ?? 0) + attempt };
}

/** Finds the record that a row had before it was sent again; undefined if it was never sent before. */
export function recordsBefore(
  store: Store,
): (queued: Pick<Queued, 'row' | 'before'>) => Promise<PartRecord | undefined> {
  const read = openParts(store);
  return async ({ row, before = '' }) => (before === '' ? undefined : (await read(before)).get(row));
}

/** Finds the record of a row among all parts. */
async function indexParts(
  store: Store,
  rows: number,
): Promise<(row: number) => Promise<Pick<BatchRow, 'record' | 'part'>>> {
  const names = await store.list(PARTS);
  const numberOf = new Uint32Array(rows + 1);
  for (const [index, name] of names.entries())
    for await (const line of createInterface({ input: store.open(`${PARTS}/${name}`) })) {
      const row = Number(ROW_NUMBER.exec(line)?.[1] ?? 0);
      if (row <= rows) numberOf[row] = index + 1;
    }
  const read = openParts(store);
  return async (row) => {
    const name = names[(numberOf[row] ?? 0) - 1];
    if (name === undefined) return { record: undefined };
    return { record: (await read(name)).get(row), part: name };
  };
}

type Part = ReadonlyMap<number, PartRecord>;

/** Reads parts by name, and keeps those used last. */
function openParts(store: Store): (name: string) => Promise<Part> {
  const parts = new RecentlyRead<Part>(PARTS_KEPT, PARTS_BYTES);
  return (name) => parts.get(name, () => readPart(store, name));
}

async function readPart(store: Store, name: string): Promise<Parsed<Part>> {
  const text = (await store.read(`${PARTS}/${name}`)) ?? '';
  return {
    value: new Map(parsePart(text).map((record) => [record.row, record])),
    bytes: Buffer.byteLength(text),
  };
}
