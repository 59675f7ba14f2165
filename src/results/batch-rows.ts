// Reads the rows of a batch in the order of the sheet, each with its record if it has one. Parts contain rows in the order in
// which they ended, so their records are sorted first.

import { parseExactly } from '../batch/digits.ts';
import type { AttemptRef } from '../batch/attempt.ts';
import { changedInputs } from '../sheet/input-change.ts';
import { readBatchSheet, sheetRows, type FoundRow } from '../sheet/batch-sheet.ts';
import { queuedAt, queueNameOf, readQueuePage, rowAtOnce, type Queued } from '../sheet/placed-rows.ts';
import { layoutOf, type BatchFile } from '../store/batch-file.ts';
import { readAhead } from '../store/read-ahead.ts';
import { RecentlyRead, type Parsed } from '../store/recently-read.ts';
import type { Store } from '../store/store.ts';
import { NewestParts, rowIn, type RowRange, isReusedPart, parsePart, partNames, PARTS } from './parts.ts';
import { placeOf, type PartRecord, type RowRecord } from './row-record.ts';
import { DatabaseSync } from 'node:sqlite';
import type { Outcome } from '../batch/outcome.ts';

// Sorts the lines of rows that come in any order: each line goes to the bucket of its row, and a bucket is read as a whole, when it
// is its turn. Buckets are filled and read once, so time grows with the number of rows, and memory does not. They are kept in
// a temporary SQLite database, which stays in memory while it is small.

/** Most buckets, and the bytes that each collects before they are stored: 32 MiB for all of them. */
const BUCKETS_MAX = 1_000;
const CHUNK_BYTES = 32 * 1024;
/** With fewer rows, reading a bucket would cost more than its rows. */
const BUCKET_ROWS_MIN = 1_000;

type Bucket = {
  /** What is stored, oldest first. */
  readonly stored: number[];
  chunk: Buffer | undefined;
  used: number;
};

export class RowBuckets implements Disposable {
  readonly #from: number;
  readonly #rowsEach: number;
  // With an empty name SQLite uses a temporary file and removes it.
  readonly #database = new DatabaseSync('');
  readonly #insert;
  readonly #find;
  readonly #buckets = new Map<number, Bucket>();

  /** `from` and `to`: the first and the last row. */
  constructor({ from, to }: { readonly from: number; readonly to: number }) {
    this.#from = from;
    this.#rowsEach = Math.max(BUCKET_ROWS_MIN, Math.ceil((to - from + 1) / BUCKETS_MAX));
    this.#database.exec('PRAGMA page_size = 65536; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF');
    this.#database.exec('PRAGMA cache_size = -16000; CREATE TABLE chunk (lines BLOB); BEGIN');
    this.#insert = this.#database.prepare('INSERT INTO chunk VALUES (?)');
    this.#find = this.#database.prepare('SELECT lines FROM chunk WHERE rowid = ?');
  }

  /** The bucket of a row; buckets are in the order of their rows. */
  bucketOf(row: number): number {
    return Math.floor((row - this.#from) / this.#rowsEach);
  }

  /** A line without its line feed. */
  add(row: number, line: string): void {
    const number = this.bucketOf(row);
    const bucket = this.#buckets.get(number) ?? { stored: [], chunk: undefined, used: 0 };
    this.#buckets.set(number, bucket);
    const bytes = Buffer.byteLength(line) + 1;
    if (bucket.used + bytes > CHUNK_BYTES) this.#store(bucket);
    if (bytes > CHUNK_BYTES) {
      bucket.stored.push(this.#insertChunk(Buffer.from(`${line}\n`)));
      return;
    }
    bucket.chunk ??= Buffer.allocUnsafeSlow(CHUNK_BYTES);
    bucket.used += bucket.chunk.write(line, bucket.used);
    bucket.used += bucket.chunk.write('\n', bucket.used);
  }

  /** All lines of a bucket, in no order. */
  linesIn(number: number): readonly string[] {
    const bucket = this.#buckets.get(number);
    if (bucket === undefined) return [];
    const chunks = bucket.stored.map((at) => this.#find.get(at)?.['lines'] as Uint8Array);
    if (bucket.chunk !== undefined) chunks.push(bucket.chunk.subarray(0, bucket.used));
    const lines = Buffer.concat(chunks).toString().split('\n');
    lines.pop();
    return lines;
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  #store(bucket: Bucket): void {
    if (bucket.chunk === undefined || bucket.used === 0) return;
    bucket.stored.push(this.#insertChunk(bucket.chunk.subarray(0, bucket.used)));
    bucket.used = 0;
  }

  #insertChunk(lines: Uint8Array): number {
    return Number(this.#insert.run(lines).lastInsertRowid);
  }
}

/** `part`: the name of the part with the record. */
export type BatchRow = FoundRow & {
  readonly record: PartRecord | undefined;
  readonly part?: string | undefined;
};

type Pages = Pick<BatchFile, 'mark' | 'sheet'>;

/** Parts in memory, as text: rows that are sent again one after another may have ended far apart. */
const PARTS_KEPT = 64;
const PARTS_BYTES = 64 * 1024 * 1024;

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
  const last = Math.min(to ?? sheet.rows, sheet.rows);
  if (last < from) return;
  using records = await sortRecords(store, { from, to: last });
  for await (const found of sheetRows(layoutOf(store, file), sheet, from, last))
    yield { ...found, ...records.of(found.row.row) };
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
  const {
    outcome,
    reason,
    attempts,
    result_attempt,
    files,
    texts,
    reused_from,
    gpu_asked = row.gpu,
  } = record ?? NEVER_SENT;
  return {
    row: row.row,
    key: row.key,
    outcome,
    ...(reason === undefined ? {} : { reason }),
    ...(gpu_asked === undefined ? {} : { gpu_asked }),
    inputs: changedInputs(row.inputs, record?.change),
    attempts,
    ...(result_attempt === undefined ? {} : { result_attempt }),
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
  const names = (await partNames(store)).filter((name) => !isReusedPart(name));
  for await (const text of readAhead(
    store,
    names.map((name) => `${PARTS}/${name}`),
  ))
    for (const record of parsePart(text)) yield { ...record, place: placeOf(record) };
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
  const parts = new RecentlyRead<string>(PARTS_KEPT, PARTS_BYTES);
  return async ({ row, before = '' }) => {
    if (before === '') return undefined;
    const line = lineOf(await parts.get(before, () => readPart(store, before)), row);
    return line === undefined ? undefined : (parseExactly(line) as PartRecord);
  };
}

async function readPart(store: Store, name: string): Promise<Parsed<string>> {
  const value = (await store.read(`${PARTS}/${name}`)) ?? '';
  return { value, bytes: Buffer.byteLength(value) };
}

/** A part has a hundred records; only one of them is parsed. */
function lineOf(part: string, row: number): string | undefined {
  const beginning = `{"row":${row},`;
  const start = part.lastIndexOf(`\n${beginning}`) + 1;
  if (start === 0 && !part.startsWith(beginning)) return undefined;
  const end = part.indexOf('\n', start);
  return part.slice(start, end < 0 ? undefined : end);
}

type SortedRecords = Disposable & {
  /** Rows are asked for in order. */
  readonly of: (row: number) => Pick<BatchRow, 'record' | 'part'>;
};

async function sortRecords(store: Store, range: RowRange): Promise<SortedRecords> {
  const parts = new NewestParts(store, range);
  const buckets = new RowBuckets(range);
  try {
    for await (const lines of parts.lines()) for (const { row, line } of lines) buckets.add(row, line);
  } catch (error) {
    buckets[Symbol.dispose]();
    throw error;
  }
  let current = { bucket: -1, lines: new Map<number, string>() };
  return {
    of: (row) => {
      const bucket = buckets.bucketOf(row);
      if (bucket !== current.bucket)
        current = { bucket, lines: new Map(buckets.linesIn(bucket).map((line) => [rowIn(line), line])) };
      const line = current.lines.get(row);
      if (line === undefined) return { record: undefined };
      return { record: parseExactly(line) as PartRecord, part: parts.nameOf(row) };
    },
    [Symbol.dispose]: () => buckets[Symbol.dispose](),
  };
}

// A row as people see it while the batch runs: one without an outcome is `open`.

export type ShownRow = Omit<RowRecord, 'outcome'> & { readonly outcome: Outcome | 'open' };

export const shownRow = (row: BatchRow): ShownRow =>
  row.record ? recordOf(row) : { ...recordOf(row), outcome: 'open', reason: '' };
