// Lays out the sending order of a batch: a lane for each GPU that rows ask for, and for each size class of a ladder; in each lane the order of the sheet, of a
// column, or a random one. Rows that are sorted or classified go through a temporary SQLite database, because a million do not fit in memory.

import { DatabaseSync } from 'node:sqlite';
import { hintAmong, problem, type RunsheetError } from '../errors/error.ts';
import { SIZE_CLASSES_MAX } from '../batch/bounds.ts';
import { chance } from '../batch/retry-policy.ts';
import type { LaneSpec } from '../batch/params.ts';
import type { KeptIn } from '../options/table.ts';
import type { Store } from '../store/store.ts';
import type { ColumnMapping } from './column-mapping.ts';
import { LaneWriter } from './placed-rows.ts';
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
    return [-first, shuffle ? chance(row) : (numberIn(cell) ?? String(cell))];
  };
}

function columnOf({ columns }: ColumnMapping, flag: string, name: string | undefined): number | undefined {
  if (name === undefined) return undefined;
  const names = columns.map((column) => column.name);
  const found = names.indexOf(name);
  if (found >= 0) return found;
  throw problem('E602', {
    what: `${flag} ${name}: the sheet has no column "${name}"`,
    hint: hintAmong(name, 'columns', names),
  });
}

/** undefined if the cell is no number; an empty cell is 0. */
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

/** The lanes while rows arrive in the order of the sheet. Nothing is written while one lane in that order is enough. */
export class SendingOrder implements Disposable {
  readonly #layout: Store;
  readonly #ownGpu: string | undefined;
  readonly #sorted: DatabaseSync | undefined;
  readonly #insert;
  readonly #lanes = new Map<string, { places: number; writer: LaneWriter }>();
  #rows = 0;

  /** `ownGpu`: the GPU of rows that ask for none, if it is known. */
  constructor(layout: Store, ownGpu: string | undefined, isSorted: boolean) {
    this.#layout = layout;
    this.#ownGpu = ownGpu;
    if (!isSorted) return;
    this.#sorted = new DatabaseSync('');
    this.#sorted.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN');
    this.#sorted.exec('CREATE TABLE queued (gpu TEXT, priority REAL, place, row INTEGER, size REAL)');
    this.#insert = this.#sorted.prepare('INSERT INTO queued VALUES (?, ?, ?, ?, ?)');
  }

  /**
   * Rows come in the order of the sheet, from 1. A promise if the caller has to wait before the next. `size`: of a row that climbs
   * a ladder, 0 if it is not known.
   */
  add(gpu: string | undefined, key: SortKey = [0, 0], size?: number): Promise<void> | undefined {
    this.#rows += 1;
    const name = gpu ?? this.#ownGpu ?? '';
    if (this.#insert) {
      this.#insert.run(name, ...key, this.#rows, size ?? null);
      return undefined;
    }
    const isOne = this.#lanes.size === 0 || (this.#lanes.size === 1 && this.#lanes.has(name));
    if (!isOne) return this.#queue(name, this.#rows);
    this.#laneOf(name).places += 1;
    return undefined;
  }

  /** Whether places differ from row numbers. */
  get isQueued(): boolean {
    return this.#lanes.size > 1 || this.#sorted !== undefined;
  }

  async end(): Promise<readonly LaneSpec[]> {
    const classes = this.#classify();
    for (const { gpu, row } of this.#inOrder()) await this.#append(gpu, row);
    for (const { writer } of this.#lanes.values()) await writer.end();
    return [...this.#lanes].map(([name, { places }]) => {
      const found = classes.get(name);
      return found === undefined ? { ...(name === '' ? {} : { gpu: name }), places } : { ...found, places };
    });
  }

  [Symbol.dispose](): void {
    this.#sorted?.close();
  }

  /** The second lane has begun: from now on, each row is written. */
  async #queue(name: string, row: number): Promise<void> {
    if (this.#lanes.size === 1) {
      const [[first, { places }]] = this.#lanes as Iterable<readonly [string, { places: number }]> as [
        [string, { places: number }],
      ];
      this.#lanes.clear();
      for (let earlier = 1; earlier <= places; earlier += 1) await this.#append(first, earlier);
    }
    await this.#append(name, row);
  }

  async #append(name: string, row: number): Promise<void> {
    const lane = this.#laneOf(name);
    lane.places += 1;
    await lane.writer.add({ row });
  }

  #laneOf(name: string) {
    const found = this.#lanes.get(name) ?? {
      places: 0,
      writer: new LaneWriter(this.#layout, this.#lanes.size),
    };
    this.#lanes.set(name, found);
    return found;
  }

  /** Gives each row of a ladder the name of its size class as its lane. */
  #classify(): ReadonlyMap<string, SizeClass | { readonly size: 0 }> {
    const classes = new Map<string, SizeClass | { readonly size: 0 }>();
    if (this.#sorted === undefined) return classes;
    const found = this.#sorted
      .prepare('SELECT DISTINCT size FROM queued WHERE size > 0 LIMIT ?')
      .all(SIZE_CLASSES_MAX + 1)
      .map(({ size }) => Number(size));
    const { least, most } = this.#sorted
      .prepare('SELECT min(size) AS least, max(size) AS most FROM queued WHERE size > 0')
      .get() as { least: number | null; most: number | null };
    const name = this.#sorted.prepare('UPDATE queued SET gpu = ? WHERE size BETWEEN ? AND ?');
    const smallest = least === null ? found : [least, ...found.filter((size) => size !== least)];
    for (const one of sizeClasses(smallest, most ?? 0).toReversed()) {
      classes.set(classNameOf(one.size), one);
      name.run(classNameOf(one.size), one.least, one.most);
    }
    classes.set(classNameOf(0), { size: 0 });
    name.run(classNameOf(0), 0, 0);
    return classes;
  }

  #inOrder(): Iterable<{ readonly gpu: string; readonly row: number }> {
    const all = this.#sorted?.prepare(
      'SELECT gpu, row FROM queued ORDER BY min(row) OVER (PARTITION BY gpu), priority, place, row',
    );
    return (all?.iterate() ?? []) as Iterable<{ gpu: string; row: number }>;
  }
}

/** No GPU has such a name. */
const classNameOf = (size: number): string => `size ${size}`;
