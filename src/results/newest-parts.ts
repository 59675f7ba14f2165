// Finds the newest record of each row. A row that was sent again, or whose batch was rebuilt, has records in several parts. Parts are
// read once, from the newest to the oldest, so the first record of a row is its newest; reading stops when every row has one. Memory
// holds four bytes for each row.

import { parseExactly } from '../host/formats/exact-json.ts';
import type { RowRange } from '../options/batch-kinds.ts';
import { readAhead } from '../store/pieces.ts';
import type { Store } from '../store/store.ts';
import { partNames, PARTS } from './parts.ts';
import type { PartRecord } from './row-record.ts';

/** The record of a row as a line of its part. */
type RecordLine = { readonly row: number; readonly line: string };

export class NewestParts {
  readonly #store: Store;
  /** Rows outside the range are skipped. */
  readonly #range: RowRange;
  /** Index in `#names` plus one; 0: no part is known. */
  readonly #partOf: Uint32Array;
  #names: readonly string[] = [];

  constructor(store: Store, range: RowRange) {
    this.#store = store;
    this.#range = range;
    this.#partOf = new Uint32Array(Math.max(0, range.to - range.from + 1));
  }

  /** The newest record of each row that has one, in no order. */
  async *lines(): AsyncGenerator<readonly RecordLine[]> {
    let left = this.#partOf.length;
    if (left === 0) return;
    this.#names = await partNames(this.#store);
    let at = this.#names.length;
    const newestFirst = this.#names.map((name) => `${PARTS}/${name}`).reverse();
    for await (const text of readAhead(this.#store, newestFirst)) {
      at -= 1;
      const lines = linesFromLast(text).filter(({ row }) => this.#claim(row, at));
      left -= lines.length;
      yield lines;
      if (left <= 0) return;
    }
  }

  /** The name of the part with the newest record of a row, after all lines were read. */
  nameOf(row: number): string | undefined {
    return this.#names[(this.#partOf[row - this.#range.from] ?? 0) - 1];
  }

  /** Assigns a row to a part; false if a newer record of the row was read. */
  #claim(row: number, part: number): boolean {
    const at = row - this.#range.from;
    if (this.#partOf[at] !== 0) return false;
    this.#partOf[at] = part + 1;
    return true;
  }
}

/** The newest record of each row that has one, in no order. */
export async function* newestRecords(store: Store, rows: number): AsyncGenerator<PartRecord> {
  for await (const lines of new NewestParts(store, { from: 1, to: rows }).lines())
    for (const { line } of lines) yield parseExactly(line) as PartRecord;
}

/** Within one part, the last record of a row counts. */
function linesFromLast(text: string): RecordLine[] {
  const lines: RecordLine[] = [];
  for (let end = text.length; end > 0;) {
    const start = text.lastIndexOf('\n', end - 1) + 1;
    const line = text.slice(start, end);
    if (line !== '') lines.push({ row: rowIn(line), line });
    end = start - 1;
  }
  return lines;
}

const ROW_NUMBER = /^\{"row":(\d+),/;

/** The row number of a record; 0 if it has none. */
const rowIn = (line: string): number => Number(ROW_NUMBER.exec(line)?.[1] ?? 0);
