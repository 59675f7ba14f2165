// Reads the rows of a batch in the order of the sheet, each with its record if it has one. Parts contain rows in the order in
// which they ended, so their records are sorted first.

import { definedOnly } from '../options/defined-only.ts';
import { parseExactly } from '../host/formats/exact-json.ts';
import {
  queuedAt,
  queueNameOf,
  readQueuePage,
  rowAtOnce,
  type Queued,
  cacheRows,
  readBatchSheet,
  sheetRows,
  type FoundRow,
} from '../sheet/placed-rows.ts';
import { changedInputs } from '../sheet/input-change.ts';
import { byNames } from '../sheet/named-inputs.ts';
import { layoutOf, type BatchFile } from '../store/batch-file.ts';
import { readAhead } from '../store/pieces.ts';
import { recentlyRead, type Parsed } from '../store/recently-read.ts';
import { SortedLines } from '../store/sorted-lines.ts';
import type { Store } from '../store/store.ts';
import { NewestParts } from './newest-parts.ts';
import { isReusedPart, parsePart, partNames, PARTS } from './parts.ts';
import { placeOf, type PartRecord, type RowRecord } from './row-record.ts';
import type { Outcome, AttemptRef } from '../batch/outcome.ts';

/** `part`: the name of the part with the record. */
export type BatchRow = FoundRow & {
  readonly record: PartRecord | undefined;
  readonly part?: string | undefined;
};

type Pages = Pick<BatchFile, 'mark' | 'sheet'>;

/** Parts kept in memory as text: rows that are sent again one after another may have ended far apart. */
const PARTS_KEPT = 64;
const PARTS_BYTES = 64 * 1024 * 1024;

type RowSelection = {
  readonly from?: number;
  readonly to?: number;
  /** The newest pass whose rows are read (default: all). */
  readonly through?: number | undefined;
};

/** Rows `from` to `to` (1-based, both included), in order; works while the batch runs. */
export async function* rowsOf(
  store: Store,
  file: Pages,
  { from = 1, to, through }: RowSelection = {},
): AsyncGenerator<BatchRow> {
  const sheet = await readBatchSheet(store, file, through);
  const last = Math.min(to ?? sheet.rows, sheet.rows);
  if (last < from) return;
  const parts = new NewestParts(store, { from, to: last });
  using records = new SortedLines();
  for await (const lines of parts.lines()) for (const { row, line } of lines) records.add(row, line);
  for await (const pageRow of sheetRows(layoutOf(store, file), sheet, from, last)) {
    const { row } = pageRow.row;
    const [line] = records.of(row);
    yield line === undefined
      ? { ...pageRow, record: undefined }
      : { ...pageRow, record: parseExactly(line) as PartRecord, part: parts.nameOf(row) };
  }
}

/** How many rows the batch has, with those of all passes or of those up to `through`. */
export const countRows = async (store: Store, file: Pages, through?: number): Promise<number> =>
  (await readBatchSheet(store, file, through)).rows;

/** A single row; undefined if the batch has no such row. */
export async function rowOf(store: Store, file: Pages, number: number): Promise<BatchRow | undefined> {
  for await (const row of rowsOf(store, file, { from: number, to: number })) return row;
  return undefined;
}

/** The record of a row; without one, the record of a row that was never sent. */
export function recordOf(
  { row, record }: Pick<BatchRow, 'row' | 'record'>,
  { sheet }: Pick<BatchFile, 'sheet'>,
): RowRecord {
  const { outcome, reason, gpu_asked = row.gpu, attempts, ...result } = record ?? NEVER_SENT;
  const { result_attempt, files, texts, reused_from } = result;
  return {
    ...definedOnly({ row: row.row, key: row.key, outcome, reason, gpu_asked }),
    inputs: byNames(changedInputs(row.inputs, record?.change), sheet.inputs),
    ...definedOnly({ attempts, result_attempt, files, texts, reused_from }),
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
  const names = (await partNames(store)).filter((name) => !isReusedPart(name));
  for await (const text of readAhead(
    store,
    names.map((name) => `${PARTS}/${name}`),
  ))
    for (const record of parsePart(text)) yield { ...record, place: placeOf(record) };
}

/** The row and attempt numbers that people see: attempts of a retried row are counted on. */
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

/** Finds a row's record from before it was sent again; undefined if it was never sent. */
export function recordsBefore(
  store: Store,
): (queued: Pick<Queued, 'row' | 'before'>) => Promise<PartRecord | undefined> {
  const parts = recentlyRead<string>(PARTS_KEPT, PARTS_BYTES);
  return async ({ row, before = '' }) => {
    if (before === '') return undefined;
    const line = lineOf(await parts(before, () => readPart(store, before)), row);
    return line === undefined ? undefined : (parseExactly(line) as PartRecord);
  };
}

async function readPart(store: Store, name: string): Promise<Parsed<string>> {
  const value = (await store.read(`${PARTS}/${name}`)) ?? '';
  return { value, bytes: Buffer.byteLength(value) };
}

/** Parses only one of the hundred records of a part. */
function lineOf(part: string, row: number): string | undefined {
  const beginning = `{"row":${row},`;
  const start = part.lastIndexOf(`\n${beginning}`) + 1;
  if (start === 0 && !part.startsWith(beginning)) return undefined;
  const end = part.indexOf('\n', start);
  return part.slice(start, end < 0 ? undefined : end);
}

/** A row as people see it while the batch runs: `open` until the row has an outcome. */
export type ShownRow = Omit<RowRecord, 'outcome'> & { readonly outcome: Outcome | 'open' };

export const shownRow = (row: BatchRow, file: Pick<BatchFile, 'sheet'>): ShownRow =>
  row.record ? recordOf(row, file) : { ...recordOf(row, file), outcome: 'open', reason: '' };

type Reason = { readonly reason?: string; readonly places?: readonly number[] };

/** Replaces the places of a reason by the numbers and keys of their rows, at the end of its text. */
export async function reasonWithRows<R extends Reason>(
  store: Store,
  file: Pick<BatchFile, 'mark' | 'sheet'>,
  { places, ...reason }: R,
): Promise<Omit<R, 'places'>> {
  if (places === undefined || places.length === 0) return reason;
  // An unreachable store must not hide the reason.
  const rows = await rowNames(store, file, places).catch(() => []);
  if (rows.length === 0) return reason;
  const noun = rows.length === 1 ? 'row' : rows.length === TEN ? 'among them rows' : 'rows';
  return { ...reason, reason: `${reason.reason ?? ''}: ${noun} ${rows.join(', ')}` };
}

const TEN = 10;

async function rowNames(store: Store, file: Pick<BatchFile, 'mark' | 'sheet'>, places: readonly number[]) {
  const rows = await cacheRows(TEN)(layoutOf(store, file), file.sheet, places);
  return places.flatMap((place) => {
    const placedRow = rows.get(place);
    return placedRow === undefined ? [] : [shownName(placedRow)];
  });
}

/** Without a key column, the key is a hash, which tells people nothing. */
const shownName = ({ row, key }: { readonly row: number; readonly key: string }): string =>
  /^[0-9a-f]{16}$/.test(key) ? String(row) : `${row} (${key})`;
