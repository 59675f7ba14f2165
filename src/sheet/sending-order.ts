// Lays out the sending order of a batch: a lane for each GPU that rows ask for and for each size class of a
// ladder; within a lane, sheet order, the order of a column, or random order. Sorted or classified rows go
// through a temporary SQLite database, because a million do not fit in memory.

import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { hintAmong, problem, type RunsheetError } from '../errors/error.ts';
import { MAX_SIZE_CLASSES } from '../batch/bounds.ts';
import { seededNumber } from '../batch/seeded-number.ts';
import type { LaneSpec } from '../batch/params.ts';
import type { KeptIn } from '../options/table.ts';
import type { Store } from '../store/store.ts';
import type { ColumnMapping } from './column-mapping.ts';
import { laneWriter, type LaneWriter } from './placed-rows.ts';
import { placeOfCell } from './row-reader.ts';
import { shortened, type SheetRecord } from './sheet-record.ts';
import { sizeClasses, type SizeClass } from './size-classes.ts';

/** Absent members: the order of the sheet. */
/** `shuffle`: a random order that is the same for the same sheet; `orderBy`: smallest first; `priority`: the highest number first. */
export type OrderOptions = KeptIn<'order'>;

type SortKey = readonly [priority: number, order: number | string];

/** Sorts a row, or says what is wrong with its priority. */
export type RowSorter = (record: SheetRecord, row: number) => SortKey | RunsheetError;

/** undefined for the order of the sheet. Throws E602 for a column that the sheet does not have. */
export function rowSorter(plan: ColumnMapping, options: OrderOptions): RowSorter | undefined {
  const { shuffle = false } = options;
  const orderBy = columnOf(plan, '--order-by', options.orderBy);
  const priority = columnOf(plan, '--priority', options.priority);
  if (!shuffle && orderBy === undefined && priority === undefined) return undefined;
  return (record, row) => {
    const first = priority === undefined ? 0 : numberIn(record.cells[priority]);
    if (first === undefined) return notANumber(plan, record, row, priority ?? 0);
    // Numbers come before texts.
    const cell = orderBy === undefined ? 0 : record.cells[orderBy];
    return [-first, shuffle ? seededNumber(row) : (numberIn(cell) ?? String(cell))];
  };
}

function columnOf({ columns }: ColumnMapping, flag: string, name: string | undefined): number | undefined {
  if (name === undefined) return undefined;
  const names = columns.map((column) => column.name);
  const foundIndex = names.indexOf(name);
  if (foundIndex >= 0) return foundIndex;
  throw problem('E602', {
    what: `${flag} ${name}: the sheet has no column "${name}"`,
    hint: hintAmong(name, 'columns', names),
  });
}

/** Undefined if the cell is not a number; an empty cell is 0. */
function numberIn(cell: unknown): number | undefined {
  const number = typeof cell === 'string' ? Number(cell) : (cell ?? 0);
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

function notANumber(plan: ColumnMapping, record: SheetRecord, row: number, index: number): RunsheetError {
  const column = plan.columns[index]?.name ?? '';
  const facts = { value: shortened(String(record.cells[index])), column, type: 'a priority' };
  const hint = 'a priority is a number; rows with a higher one are sent first';
  return problem('E202', { ...facts, hint }, { place: placeOfCell(plan, record, row, index) });
}

/** The lanes, while rows arrive in sheet order. While one lane in sheet order is enough, rows are only counted. */
export class SendingOrder implements Disposable {
  readonly #layout: Store;
  readonly #ownGpu: string | undefined;
  #sorted: DatabaseSync | undefined;
  #insert: StatementSync | undefined;
  /** The only lane so far. */
  #name: string | undefined;
  #rows = 0;

  /** `ownGpu`: the GPU of rows that ask for none, if it is known. */
  constructor(layout: Store, ownGpu: string | undefined, isSorted: boolean) {
    this.#layout = layout;
    this.#ownGpu = ownGpu;
    if (isSorted) this.#sort();
  }

  /** Takes rows in sheet order, from 1. `size`: the size of a row on a ladder, 0 if unknown. */
  add(gpu: string | undefined, key: SortKey = [0, 0], size?: number): void {
    const name = gpu ?? this.#ownGpu ?? '';
    this.#name ??= name;
    if (name !== this.#name && this.#sorted === undefined) this.#sort();
    this.#rows += 1;
    this.#insert?.run(name, ...key, this.#rows, size ?? null);
  }

  /** Takes a row that is never sent. */
  skip(): void {
    if (this.#sorted === undefined) this.#sort();
    this.#rows += 1;
  }

  /** Whether places differ from row numbers. */
  get isQueued(): boolean {
    return this.#sorted !== undefined;
  }

  async end(): Promise<readonly LaneSpec[]> {
    if (this.#sorted === undefined) return [laneOf(this.#name ?? '', this.#rows)];
    const classes = this.#classify(this.#sorted);
    const lanes = new Map<string, { places: number; readonly writer: LaneWriter }>();
    const sortedRows = this.#sorted.prepare(
      'SELECT gpu, row FROM queued ORDER BY min(row) OVER (PARTITION BY gpu), priority, place, row',
    );
    for (const { gpu, row } of sortedRows.iterate() as Iterable<{ gpu: string; row: number }>) {
      const lane = lanes.get(gpu) ?? { places: 0, writer: laneWriter(this.#layout, lanes.size) };
      lanes.set(gpu, lane);
      lane.places += 1;
      await lane.writer.add({ row });
    }
    for (const { writer } of lanes.values()) await writer.end();
    return [...lanes].map(([name, { places }]) => {
      const foundIndex = classes.get(name);
      return foundIndex === undefined ? laneOf(name, places) : { ...foundIndex, places };
    });
  }

  [Symbol.dispose](): void {
    this.#sorted?.close();
  }

  /** From now on, each row is kept. */
  #sort(): void {
    this.#sorted = new DatabaseSync('');
    this.#sorted.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN');
    this.#sorted.exec('CREATE TABLE queued (gpu TEXT, priority REAL, place, row INTEGER, size REAL)');
    this.#insert = this.#sorted.prepare('INSERT INTO queued VALUES (?, ?, ?, ?, ?)');
    for (let row = 1; row <= this.#rows; row += 1) this.#insert.run(this.#name ?? '', 0, 0, row, null);
  }

  /** Gives each row of a ladder the name of its size class as its lane. */
  #classify(sorted: DatabaseSync): ReadonlyMap<string, SizeClass | { readonly size: 0 }> {
    const classes = new Map<string, SizeClass | { readonly size: 0 }>();
    const foundIndex = sorted
      .prepare('SELECT DISTINCT size FROM queued WHERE size > 0 LIMIT ?')
      .all(MAX_SIZE_CLASSES + 1)
      .map(({ size }) => Number(size));
    const { least, most } = sorted
      .prepare('SELECT min(size) AS least, max(size) AS most FROM queued WHERE size > 0')
      .get() as { least: number | null; most: number | null };
    const name = sorted.prepare('UPDATE queued SET gpu = ? WHERE size BETWEEN ? AND ?');
    const smallest = least === null ? foundIndex : [least, ...foundIndex.filter((size) => size !== least)];
    for (const sizeClass of sizeClasses(smallest, most ?? 0).toReversed()) {
      classes.set(classNameOf(sizeClass.size), sizeClass);
      name.run(classNameOf(sizeClass.size), sizeClass.least, sizeClass.most);
    }
    classes.set(classNameOf(0), { size: 0 });
    name.run(classNameOf(0), 0, 0);
    return classes;
  }
}

const laneOf = (name: string, places: number): LaneSpec => ({
  ...(name === '' ? {} : { gpu: name }),
  places,
});

/** No GPU has such a name. */
const classNameOf = (size: number): string => `size ${size}`;
