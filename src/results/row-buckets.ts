// Sorts the lines of rows that come in any order: each line goes to the bucket of its row, and a bucket is read as a whole, when it
// is its turn. Buckets are filled and read once, so time grows with the number of rows, and memory does not. They are kept in
// a temporary SQLite database, which stays in memory while it is small.

import { DatabaseSync } from 'node:sqlite';

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
