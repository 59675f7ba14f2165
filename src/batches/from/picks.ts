// The file of picks (run --pick, pick --picks): it names rows of a batch, their order, and further columns. Memory holds a fingerprint
// of each pick; the file is read again for its cells.

import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { problem } from '../../errors/error.ts';
import { refuseNoSheet, sheetFault, type SheetSource, type SheetOptions } from '../../sheet/sheet-source.ts';
import { isTrade, isWorkbook } from '../../sheet/formats.ts';
import { formatOf } from '../../sheet/recognized-format.ts';
import { columnsOf, readCells, recordsOf } from '../../sheet/read-records.ts';
import { ownColumns, resultNames } from '../../sheet/result-columns.ts';
import { fingerprint, KeyTable } from '../../sheet/row-keys.ts';
import { OUTPUT } from './source-rows.ts';

export type PicksParams = {
  readonly path: string;
  /** The folder from which its cells name files (default: the folder of the file). */
  readonly folder?: string;
  /** How to read the file. */
  readonly reading: Pick<SheetOptions, 'delimiter' | 'encoding'>;
  /** Whether a row may be picked more than once, because another column names the new rows. */
  readonly mayRepeat: boolean;
};

/** A pick that names no row of the batch. */
type UnknownPick = { readonly line: number; readonly name: string };

export class Picks {
  readonly name: string;
  /** The columns of the file besides those that name rows. */
  readonly columns: readonly string[];
  /** Whether the picks name rows by key or by number. */
  readonly by: 'key' | 'row';
  readonly #at: number;
  readonly #source: SheetSource;
  readonly #options: SheetOptions;
  readonly #names: readonly string[];
  readonly #table = new KeyTable();
  /** Links each pick to the next one of the same row. */
  readonly #next = new Map<number, number>();
  readonly #last = new Map<number, number>();
  #known = new Uint8Array(0);

  private constructor(source: SheetSource, options: SheetOptions, names: readonly string[]) {
    this.name = source.name;
    this.#source = source;
    this.#options = options;
    this.#names = names;
    const own = ownColumns(names);
    // A shortened results file names its rows in the key column of the results.
    const key = own.length < names.length ? (resultNames(own)[1] ?? 'key') : 'key';
    this.by = names.includes(key) ? 'key' : 'row';
    this.#at = names.indexOf(this.by === 'key' ? key : 'row');
    if (this.#at < 0)
      throw problem('E556', {
        what: `${this.name} has neither a column "key" nor a column "row"`,
        hint: `its columns: ${names.join(', ')}; rename the one that names the rows`,
      });
    this.columns = own.filter((name) => name !== names[this.#at] && name !== OUTPUT);
  }

  /** Throws E101 to E107 for the file, and E556 if it does not name rows. */
  static async read({ path, reading, mayRepeat }: PicksParams): Promise<Picks> {
    await refuseNoSheet(path);
    const source = { name: basename(path), open: () => createReadStream(path) };
    const format = await formatAt(path);
    if (isWorkbook(format) || isTrade(format))
      throw problem('E556', {
        what: `${source.name} is not a text with columns`,
        hint: 'save it as CSV (UTF-8)',
      });
    const options = { format, map: {}, set: {}, drop: [], types: {}, ...reading };
    const names = (await columnsOf(source, options)).map(({ name }) => name);
    const picks = new Picks(source, options, names);
    await picks.#index(mayRepeat);
    return picks;
  }

  get rows(): number {
    return this.#known.length;
  }

  /** The picks of a row, counted from 1. */
  of(row: { readonly row: number; readonly key: string }): readonly number[] {
    const picks: number[] = [];
    for (let at = this.#table.rowOf(this.#print(String(row[this.by]))); at; at = this.#next.get(at)) {
      this.#known[at - 1] = 1;
      picks.push(at);
    }
    return picks;
  }

  async *cells(): AsyncGenerator<readonly string[]> {
    const at = this.columns.map((name) => this.#names.indexOf(name));
    for await (const cells of readCells(this.#source.open, this.#options, this.#names))
      yield at.map((column) => cells[column] ?? '');
  }

  /** Counts the picks that {@link of} never returned, and names the first ones. */
  async unknown(): Promise<{ readonly count: number; readonly first: readonly UnknownPick[] }> {
    const count = this.#known.reduce((sum, isKnown) => sum - isKnown, this.rows);
    const first: UnknownPick[] = [];
    if (count === 0) return { count, first };
    let pick = 0;
    for await (const { cells, line } of recordsOf(this.#source, this.#options, this.#names)) {
      pick += 1;
      if (this.#known[pick - 1] === 1) continue;
      first.push({ line, name: nameIn(cells[this.#at]) });
      if (first.length === MAX_NAMED) break;
    }
    return { count, first };
  }

  async #index(mayRepeat: boolean): Promise<void> {
    let pick = 0;
    for await (const { cells, line, fault } of recordsOf(this.#source, this.#options, this.#names)) {
      const place = { file: this.name, line };
      if (fault) throw problem('E103', fault, { place: { file: this.name, line: fault.line } });
      const name = nameIn(cells[this.#at]);
      if (name === '')
        throw problem('E556', { what: `this row of ${this.name} names no ${this.by}` }, { place });
      pick += 1;
      const { nth, firstRow } = this.#table.sight(this.#print(name), pick);
      if (nth === 1) continue;
      if (!mayRepeat)
        throw problem(
          'E556',
          {
            what: `${this.name} picks ${this.by} ${name} twice: rows ${firstRow} and ${pick}`,
            hint: 'remove one of them; or, to use a row several times, name the new rows with --key <column>',
          },
          { place },
        );
      this.#next.set(this.#last.get(firstRow) ?? firstRow, pick);
      this.#last.set(firstRow, pick);
    }
    if (pick === 0) throw problem('E556', { what: `${this.name} picks no row` });
    this.#known = new Uint8Array(pick);
  }

  #print(name: string): string {
    // A spreadsheet may write a number as 7.0 or 007.
    return fingerprint(this.by === 'row' && /^\d+(\.0+)?$/.test(name) ? String(Number(name)) : name);
  }
}

const MAX_NAMED = 10;

const nameIn = (cell: unknown): string =>
  typeof cell === 'string' || typeof cell === 'number' ? String(cell).trim() : '';

async function formatAt(path: string): Promise<SheetOptions['format']> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64);
      return formatOf(basename(path), buffer.subarray(0, bytesRead));
    } finally {
      await file.close();
    }
  } catch (error) {
    throw await sheetFault(path, error);
  }
}
