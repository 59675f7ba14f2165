// Gives every row a unique key: the value of the key column, else a hash of its content. Repeated content gets a number.

import { hash } from 'node:crypto';

/** 64 bits of the sha256 of a text, as 16 hex digits. */
export const fingerprint = (text: string): string => hash('sha256', text, 'hex').slice(0, 16);

/** Keys appear in file names, signals and tables. */
export const MAX_KEY = 200;

/** Whether a text can be a key. */
export const isKey = (text: string): boolean => text.length <= MAX_KEY && !/\p{Cc}/u.test(text);

/** The key of a row by its content: canonical inputs, and the GPU if it names one. */
export function contentKey(inputs: string, gpu: string | undefined): string {
  return fingerprint(
    gpu === undefined ? `{"inputs":${inputs}}` : `{"gpu":${JSON.stringify(gpu)},"inputs":${inputs}}`,
  );
}

/** The parts of a key: canonical inputs, GPU, and the value of the key column. */
type Nameable = {
  readonly inputs: string;
  readonly gpu: string | undefined;
  readonly key: string | undefined;
};

/** How many rows repeat an earlier one, and the first of them. */
type Repeats = { count: number; first?: { readonly row: number; readonly firstRow: number } };

function note(repeats: Repeats, { nth, firstRow }: Sighting, row: number): void {
  if (nth === 1) return;
  repeats.count += 1;
  repeats.first ??= { row, firstRow };
}

/** ASCII without blanks and upper case. */
const PLAIN = /^[!-@[-~]*$/;

/** The key without what people overlook. */
const plainKey = (key: string): string =>
  PLAIN.test(key) ? key : key.normalize('NFKC').toLowerCase().replaceAll(/\s+/g, '');

/** Assigns keys in the order of the sheet. */
export class RowNames {
  readonly #table = new KeyTable();
  /** The contents of rows that have a key. */
  readonly #contents = new KeyTable();
  readonly #twins = new KeyTable();
  readonly #duplicates = new KeyTable();
  /** Rows that repeat the content of an earlier row: how many, and the first of them. */
  readonly repeats: Repeats = { count: 0 };
  /** Repeating rows whose keys are equal too, but for case and blanks. */
  readonly twins: Repeats = { count: 0 };

  /** `firstRow` if the key column repeats `key`: the row that has it already. */
  name(content: Nameable, row: number): { readonly key: string; readonly firstRow?: number } {
    const print = contentKey(content.inputs, content.gpu);
    const { key } = content;
    const same = (key === undefined ? this.#table : this.#contents).sight(print, row);
    note(this.repeats, same, row);
    if (key !== undefined) note(this.twins, this.#twins.sightText(`${plainKey(key)} ${print}`, row), row);
    if (key === undefined) return { key: same.nth === 1 ? print : `${print}-${same.nth}` };
    const { nth, firstRow } = this.#table.sight(fingerprint(key), row);
    return nth === 1 ? { key } : { key, firstRow };
  }

  /** The key of a row that cannot be read: its own, which says if an earlier row has it; without one, a hash of its cells. */
  nameUnread(key: string | undefined, cells: string, row: number): string {
    if (key !== undefined) {
      if (this.#table.sight(fingerprint(key), row).nth === 1) return key;
      const { nth } = this.#duplicates.sight(fingerprint(key), row);
      const end = ` (duplicate${nth === 1 ? '' : ` ${nth}`})`;
      const name = `${key.slice(0, MAX_KEY - end.length)}${end}`;
      if (this.#table.sight(fingerprint(name), row).nth === 1) return name;
    }
    const print = fingerprint(cells);
    const { nth } = this.#table.sight(print, row);
    return nth === 1 ? print : `${print}-${nth}`;
  }
}

/** How often a fingerprint has occurred, and its first row. */
export type Sighting = { readonly nth: number; readonly firstRow: number };

/**
 * Every fingerprint of a sheet, in four typed arrays with open addressing: 16 bytes a slot, at most three of four slots
 * taken, so a million rows fit into 32 MiB where a Map of strings would need ten times that. Two different keys share a
 * fingerprint about once in 30 million sheets of a million rows, and then the sheet is refused, not run wrongly.
 */
export class KeyTable {
  #mask = 1023;
  #slots = slots(1024);
  #taken = 0;

  sight(print: string, row: number): Sighting {
    return this.#sight(Number.parseInt(print.slice(0, 8), 16), Number.parseInt(print.slice(8, 16), 16), row);
  }

  /** Notes a text itself, by a hash that costs a tenth of a fingerprint and that nothing stores. One table takes either. */
  sightText(text: string, row: number): Sighting {
    let [high, low] = [0xde_ad_be_ef, 0x41_c6_ce_57];
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      high = Math.imul(high ^ unit, 2_654_435_761);
      low = Math.imul(low ^ unit, 1_597_334_677);
    }
    high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
    low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
    return this.#sight(high >>> 0, low >>> 0, row);
  }

  #sight(high: number, low: number, row: number): Sighting {
    if (this.#taken * 4 > this.#mask * 3) this.#grow();
    const { rows, counts } = this.#slots;
    const at = this.#find(high, low);
    if (rows[at] === 0) this.#put(at, high, low, row, 0);
    const nth = (counts[at] ?? 0) + 1;
    counts[at] = nth;
    return { nth, firstRow: rows[at] ?? row };
  }

  /** The row that first had this fingerprint; undefined if none had it. */
  rowOf(print: string): number | undefined {
    const at = this.#find(Number.parseInt(print.slice(0, 8), 16), Number.parseInt(print.slice(8, 16), 16));
    return this.#slots.rows[at] || undefined;
  }

  get bytes(): number {
    return (this.#mask + 1) * 16;
  }

  /** The slot of a fingerprint, or the empty one where it belongs. */
  #find(high: number, low: number): number {
    const { highs, lows, rows } = this.#slots;
    let at = low & this.#mask;
    while (rows[at] !== 0 && (lows[at] !== low || highs[at] !== high)) at = (at + 1) & this.#mask;
    return at;
  }

  #put(at: number, high: number, low: number, row: number, count: number): void {
    const { highs, lows, rows, counts } = this.#slots;
    highs[at] = high;
    lows[at] = low;
    rows[at] = row;
    counts[at] = count;
    this.#taken += 1;
  }

  #grow(): void {
    const { highs, lows, rows, counts } = this.#slots;
    this.#mask = this.#mask * 2 + 1;
    this.#slots = slots(this.#mask + 1);
    this.#taken = 0;
    for (const [from, row] of rows.entries()) {
      if (row === 0) continue;
      const high = highs[from] ?? 0;
      const low = lows[from] ?? 0;
      this.#put(this.#find(high, low), high, low, row, counts[from] ?? 0);
    }
  }
}

const slots = (count: number) => ({
  highs: new Uint32Array(count),
  lows: new Uint32Array(count),
  /** The first row; 0 if the slot is empty. */
  rows: new Uint32Array(count),
  counts: new Uint32Array(count),
});
