// The rows of a new batch, each with the earlier row, if any, that has its result. A million rows do not fit in memory, so they are in
// a temporary SQLite database.
//
//   free → done | open | unknown | undelivered    an earlier row answers the same request
//        → moved                                  at the end: a row that is done differs only in the address of a file

import { DatabaseSync } from 'node:sqlite';
import { parseExactly } from '../../host/formats/exact-json.ts';
import type { PartRecord } from '../../results/row-record.ts';
import type { Store } from '../../store/store.ts';
import type { MovedRows, SharedRows } from '../questions.ts';
import type { AddressedRow } from '../request-hash.ts';

/** A row that succeeded in an earlier batch. `origin` names the row whose run was paid for: `<batch>#<row>`. */
export type ReusableRow = {
  readonly batch: string;
  readonly store: Store;
  readonly origin: string;
  readonly record: PartRecord;
};

/** The state of a row in an earlier batch: a result, no outcome yet, outcome unknown, or a run whose files were not delivered. */
type RowStatus = 'done' | 'moved' | 'open' | 'unknown' | 'undelivered';

type EarlierRow = Omit<RowSource, 'status'> & { readonly row: number };

type RowSource = {
  readonly batch: string;
  readonly store: Store;
  readonly isVersionSure: boolean;
  readonly status: RowStatus;
};

export type WantedResults = { readonly done: boolean; readonly moved: boolean };

const TABLES = `
  PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16000; BEGIN;
  CREATE TABLE wanted (row INTEGER PRIMARY KEY, request TEXT, source INTEGER, origin TEXT, record TEXT);
  CREATE INDEX free ON wanted (request, row) WHERE source IS NULL;
  CREATE TABLE bought (origin TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE unsettled (request TEXT, source INTEGER);
  CREATE TABLE addressed (hash TEXT, row INTEGER);
  CREATE INDEX hashes ON addressed (hash, row);
  CREATE TABLE alike (hash TEXT, source INTEGER, origin TEXT, record TEXT);
`;

/** The rows of a new batch, each with the earlier row, if any, that answers the same request. */
export class Overlap implements Disposable {
  readonly rows: number;
  #left = 0;
  // With an empty name SQLite uses a temporary file and removes it.
  readonly #database = new DatabaseSync('');
  readonly #sources: RowSource[] = [];
  readonly #insert;
  readonly #free;
  readonly #take;
  readonly #buy;
  readonly #unsettled;
  readonly #find;
  readonly #insertAddressed;
  readonly #freeAlike;
  readonly #addAlike;
  /** Inputs that have addresses. */
  readonly #addressed = new Set<string>();

  constructor(rows: number) {
    this.rows = rows;
    this.#database.exec(TABLES);
    const prepare = (sql: string) => this.#database.prepare(sql);
    this.#insert = prepare('INSERT INTO wanted (row, request) VALUES (?, ?)');
    this.#free = prepare('SELECT row FROM wanted WHERE request = ? AND source IS NULL ORDER BY row LIMIT 1');
    this.#take = prepare('UPDATE wanted SET source = ?, origin = ?, record = ? WHERE row = ?');
    this.#buy = prepare('INSERT OR IGNORE INTO bought VALUES (?)');
    this.#unsettled = prepare('INSERT INTO unsettled VALUES (?, ?)');
    this.#insertAddressed = prepare('INSERT INTO addressed VALUES (?, ?)');
    this.#freeAlike = prepare(
      'SELECT wanted.row AS row FROM addressed JOIN wanted USING (row) WHERE hash = ? AND source IS NULL ORDER BY wanted.row LIMIT 1',
    );
    this.#addAlike = prepare('INSERT INTO alike VALUES (?, ?, ?, ?)');
    this.#find = prepare('SELECT source, origin, record FROM wanted WHERE row = ? AND record IS NOT NULL');
  }

  get isComplete(): boolean {
    return this.#left === 0;
  }

  /** Whether no row is the same request as an earlier one. */
  get isEmpty(): boolean {
    return this.#sources.every(({ status }) => status === 'moved');
  }

  add(row: number, request: string, { hashes, inputs }: AddressedRow): void {
    this.#insert.run(row, request);
    for (const hash of hashes) this.#insertAddressed.run(hash, row);
    for (const input of inputs) this.#addressed.add(input);
    this.#left += 1;
  }

  /** Whether a row that differs at most in the addresses of files still has no earlier row. */
  hasAlike(hash: string): boolean {
    return !this.isComplete && this.#freeAlike.get(hash) !== undefined;
  }

  /** Whether a row with this request still has no earlier row. */
  has(request: string): boolean {
    return !this.isComplete && this.#free.get(request) !== undefined;
  }

  /** Uses each result once: a sheet that repeats a request wants several results. */
  addDone(request: string, shared: EarlierRow, record: PartRecord): void {
    const origin = record.reused_from ?? `${shared.batch}#${shared.row}`;
    const isUnused = this.#buy.run(origin).changes === 1;
    if (isUnused) this.#takeFree(request, this.#sourceOf(shared, 'done'), origin, JSON.stringify(record));
  }

  /** A result that counts only for a row without any earlier row of its own request. */
  addAlike(hashes: readonly string[], shared: EarlierRow, record: PartRecord): void {
    const origin = record.reused_from ?? `${shared.batch}#${shared.row}`;
    for (const hash of hashes)
      this.#addAlike.run(hash, this.#sourceOf(shared, 'moved'), origin, JSON.stringify(record));
  }

  addUnsettled(request: string, shared: EarlierRow, status: Exclude<RowStatus, 'done' | 'moved'>): void {
    this.#unsettled.run(request, this.#sourceOf(shared, status));
  }

  /** An unsettled row counts only if no other batch has the same row done. */
  end(): void {
    const unsettledRows = this.#database
      .prepare('SELECT request, source FROM unsettled ORDER BY rowid')
      .all();
    for (const { request, source } of unsettledRows)
      this.#takeFree(String(request), Number(source), null, null);
    const alike = this.#database.prepare('SELECT * FROM alike ORDER BY rowid').all();
    for (const { hash, source, origin, record } of alike) {
      const row = this.#freeAlike.get(String(hash))?.['row'];
      if (row === undefined || this.#buy.run(String(origin)).changes !== 1) continue;
      this.#take.run(Number(source), String(origin), String(record), Number(row));
    }
  }

  get done(): readonly SharedRows[] {
    return this.#sharedRows('done');
  }

  get open(): readonly SharedRows[] {
    return this.#sharedRows('open');
  }

  get unknown(): readonly SharedRows[] {
    return this.#sharedRows('unknown');
  }

  get undelivered(): readonly SharedRows[] {
    return this.#sharedRows('undelivered');
  }

  /** Rows that are done but for the address of a file. */
  get moved(): MovedRows {
    return { done: this.#sharedRows('moved'), inputs: [...this.#addressed] };
  }

  get all(): readonly SharedRows[] {
    return [...this.done, ...this.open, ...this.unknown, ...this.undelivered];
  }

  /** `isWanted`: whether a result counts that is done, or done but for an address. */
  resultOf(row: number, isWanted: WantedResults): ReusableRow | undefined {
    const match = this.#find.get(row);
    const source = this.#sources[Number(match?.['source'])];
    if (match === undefined || source === undefined) return undefined;
    if (source.status === 'moved' ? !isWanted.moved : !isWanted.done) return undefined;
    const record = parseExactly(String(match['record'])) as PartRecord;
    return { batch: source.batch, store: source.store, origin: String(match['origin']), record };
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  #takeFree(request: string, source: number, origin: string | null, record: string | null): void {
    const free = this.#free.get(request);
    if (free === undefined) return;
    this.#take.run(source, origin, record, Number(free['row']));
    this.#left -= 1;
  }

  #sourceOf({ batch, store, isVersionSure }: EarlierRow, status: RowStatus): number {
    const at = this.#sources.findIndex((source) => source.batch === batch && source.status === status);
    return at >= 0 ? at : this.#sources.push({ batch, store, isVersionSure, status }) - 1;
  }

  #sharedRows(status: RowStatus): readonly SharedRows[] {
    const count = this.#database.prepare('SELECT count(*) AS rows FROM wanted WHERE source = ?');
    const first = this.#database.prepare('SELECT row FROM wanted WHERE source = ? ORDER BY row LIMIT 10');
    return this.#sources.flatMap(({ batch, isVersionSure, ...source }, at) => {
      const rows = Number(count.get(at)?.['rows']);
      if (source.status !== status || rows === 0) return [];
      return { batch, rows, first: first.all(at).map(({ row }) => Number(row)), isVersionSure };
    });
  }
}
