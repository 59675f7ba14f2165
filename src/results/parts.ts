// A part is a file with up to a hundred ended rows, written once. If a row has two records, the later part
// counts: the part of the higher pass, and within a pass the higher number.

import { parseExactly } from '../host/exact-json.ts';
import type { Store } from '../store/store.ts';
import { sealOf, type PartNumber } from './parts-seal.ts';
import type { PartRecord } from './row-record.ts';
import { readAhead } from '../store/pieces.ts';
import type { RowRange } from '../options/batch-kinds.ts';

export const PARTS = 'parts';

export const partName = (pass: number, part: number): string =>
  `${PARTS}/${String(pass).padStart(4, '0')}-${String(part).padStart(6, '0')}.jsonl`;

export const partIn = (name: string): PartNumber => {
  const [pass = 0, part = 0] = name.split(/[-.]/).map(Number);
  return { pass, part };
};

/** The names of all parts that count, oldest first: by numbers, which may have more digits than most. */
export async function partNames(store: Store): Promise<readonly string[]> {
  const [names, isSealed] = await Promise.all([store.list(PARTS), sealOf(store)]);
  const parts = names.map((name) => ({ name, ...partIn(name) })).filter(isSealed);
  return parts.sort((a, b) => a.pass - b.pass || a.part - b.part).map(({ name }) => name);
}

export type PartRanges = Readonly<Record<number, readonly [first: number, last: number]>>;

/** The numbers of the first and the last part of each pass. */
export async function partRanges(store: Store): Promise<PartRanges> {
  const ranges: Record<number, readonly [number, number]> = {};
  for (const { pass, part } of (await partNames(store)).map(partIn))
    ranges[pass] = [ranges[pass]?.[0] ?? part, part];
  return ranges;
}

/** The pass of rows that were reused: before the first pass of a workflow. */
export const REUSED_PASS = 0;

/** Whether the rows of a part were bought by earlier batches, and have no place. */
export const isReusedPart = (name: string): boolean => name.startsWith('0000-');

export const parsePart = (text: string): readonly PartRecord[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => parseExactly(line) as PartRecord);

// Finds the newest record of each row among all parts: a row that was sent again, or a batch that was rebuilt, has several. Parts
// are read once, from the newest to the oldest, so the first record of a row that is found is its newest. That takes four bytes
// for each row, and the older parts are not read if all rows were sent again.

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

  /** Whether no newer record of the row was found. */
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
