// Finds the rows of a new batch that earlier batches in the same folder have: rows with the same inputs and GPU, for the same
// version of the deployment at the same service. Keys and files do not count: a changed prompt may keep its key. Rows go through
// a temporary SQLite database, because a million do not fit in memory.

import { lstat } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { pMapIterable } from 'p-map';
import type { PassSegment } from '../../batch/state/lanes.ts';
import { parseExactly } from '../../host/exact-json.ts';
import { isSameService } from '../../host/service-address.ts';
import { isRunsheetError } from '../../errors/error.ts';
import type { BatchRow } from '../../results/batch-rows.ts';
import { placeOf, undelivered, type FileRecord, type PartRecord } from '../../results/row-record.ts';
import { PAGE_ROWS, readPage, type SheetRow } from '../../sheet/pages.ts';
import { changedInputs } from '../../sheet/input-change.ts';
import { layoutOf, type BatchFile } from '../../store/batch-file.ts';
import { FIRST_PASS, newestPass, readPasses } from '../../store/passes.ts';
import type { BatchFolder } from '../../store/batch-folders.ts';
import type { Store } from '../../store/store.ts';
import type { SharedRows } from '../questions.ts';
import { byFields } from '../../sheet/named-inputs.ts';
import { requestHash } from '../request-hash.ts';
import { readStanding, type StandingRow } from '../standing-rows.ts';
import { hasPlace } from '../watched/sheet-places.ts';

export type NewRows = {
  readonly file: BatchFile;
  readonly rows: () => AsyncIterable<Pick<SheetRow, 'row' | 'gpu' | 'inputs'>>;
  /** Only what other batches have taken on since then counts. */
  readonly since?: string;
};

/** The rows of a sheet that is laid out; by default all of them. */
export const rowsIn = (
  { file, layout }: { readonly file: BatchFile; readonly layout: Store },
  isWanted = (_row: number): boolean => true,
): NewRows => ({
  file,
  rows: async function* () {
    for (let page = 1; page <= file.sheet.pages; page += 1)
      for (const row of await readPage(layout, page)) if (isWanted(row.row)) yield row;
  },
});

/** A row that succeeded in an earlier batch. `origin` names the row that was bought: `<batch>#<row>`. */
export type ReusableRow = {
  readonly batch: string;
  readonly store: Store;
  readonly origin: string;
  readonly record: PartRecord;
};

/** Of the rows that are wanted. The caller closes it. */
export async function findOverlap(
  batches: readonly BatchFolder[],
  { file, rows, since }: NewRows,
): Promise<Overlap> {
  const others: OtherBatch[] = [];
  for (const other of batches) {
    const places = mayShare(file, other.file) ? await placesSince(other, since) : [];
    if (places?.length !== 0) others.push({ ...other, places });
  }
  const overlap = new Overlap(file.sheet.rows);
  try {
    if (others.length === 0) return overlap;
    for await (const row of rows()) overlap.add(row.row, requestHash(row.inputs, askedBy(row, file)));
    for (const other of others) if (!overlap.isComplete) await addBatch(overlap, file, other);
    overlap.end();
    return overlap;
  } catch (error) {
    overlap[Symbol.dispose]();
    throw error;
  }
}

/** `places`: undefined for all of them. */
type OtherBatch = BatchFolder & { readonly places: readonly PassSegment[] | undefined };

async function placesSince({ store, file }: BatchFolder, since = ''): Promise<OtherBatch['places']> {
  if (file.createdAt >= since) return undefined;
  const passes = await readPasses(store, FIRST_PASS, await newestPass(store));
  return passes.filter(({ at }) => at >= since).flatMap(({ segments }) => segments);
}

/** A version that one of them does not know counts as the same; then only the user can decide. */
export function mayShare(file: BatchFile, other: BatchFile): boolean {
  const isOther =
    file.deployment.versionId !== other.deployment.versionId && isVersionKnown(file) && isVersionKnown(other);
  return !isOther && file.deployment.id === other.deployment.id && isSameService(file.service, other.service);
}

const isVersionKnown = ({ deployment }: BatchFile): boolean => deployment.versionId !== undefined;

/** Its GPU, or its whole ladder: another ladder asks for something else. */
function askedBy({ gpu }: Pick<SheetRow, 'gpu'>, { sheet, deployment }: BatchFile): string {
  const { ladder } = sheet.options;
  return gpu ?? (ladder === undefined ? (deployment.gpu ?? '') : ladder.join(','));
}

/** What a row of an earlier batch answers: a row of a ladder also answers a request for the GPU on which it ended. */
function answeredBy({ row, record }: Pick<BatchRow, 'row' | 'record'>, file: BatchFile): readonly string[] {
  const own = requestHash(row.inputs, askedBy(row, file));
  const isClimbing = row.gpu === undefined && file.sheet.options.ladder !== undefined;
  return isClimbing && record?.gpu_asked !== undefined
    ? [own, requestHash(row.inputs, record.gpu_asked)]
    : [own];
}

/** The same before the records are read. */
const mayAnswer = (row: SheetRow, file: BatchFile): readonly string[] =>
  row.gpu === undefined
    ? [askedBy(row, file), ...(file.sheet.options.ladder ?? [])].map((asked) =>
        requestHash(row.inputs, asked),
      )
    : [requestHash(row.inputs, row.gpu)];

/** Throws E504 if results of shared rows cannot be read: without them, rows would be bought again unnoticed. */
async function addBatch(overlap: Overlap, file: BatchFile, other: OtherBatch): Promise<void> {
  const isVersionSure = isVersionKnown(file) && isVersionKnown(other.file);
  const from = await firstShared(overlap, file, other);
  if (from === undefined) return;
  const standing = await readStanding(other);
  const isCounted = ({ sentAgain, record }: StandingRow): boolean =>
    other.places === undefined ||
    sentAgain !== undefined ||
    (record !== undefined && hasPlace(other.places, placeOf(record)));
  const asking = async (row: StandingRow): Promise<Asking> => {
    const requests = isCounted(row) ? answeredBy({ ...row, row: askedOf(row, file) }, other.file) : [];
    const isWanted = requests.some((one) => overlap.has(one));
    return { row, requests, isDone: isWanted && (await isReusable(row, other)) };
  };
  // Files are looked for ahead, and rows come in their order.
  for await (const { row, requests, isDone } of pMapIterable(standing.rows(from), asking, {
    concurrency: LOOKED_FOR,
  })) {
    const request = requests.find((one) => overlap.has(one));
    if (request === undefined) continue;
    const shared = { batch: other.batch, store: other.store, row: row.row.row, isVersionSure };
    if (row.isOpen) overlap.addUnsettled(request, shared, 'open');
    else if (row.record?.outcome === 'unknown') overlap.addUnsettled(request, shared, 'unknown');
    else if (isUndelivered(row, other.file)) overlap.addUnsettled(request, shared, 'undelivered');
    else if (isDone) overlap.addDone(request, shared, row.record as PartRecord);
  }
}

/** Rows whose files are looked for at the same time. */
const LOOKED_FOR = 32;

/** A row of an earlier batch, what it answers, and whether its result can be used. */
type Asking = {
  readonly row: StandingRow;
  readonly requests: readonly string[];
  readonly isDone: boolean;
};

function askedOf({ row, record, sentAgain }: StandingRow, { sheet }: BatchFile): SheetRow {
  const { change } = sentAgain ?? record ?? {};
  return { ...row, inputs: byFields(changedInputs(row.inputs, change), sheet.inputs) };
}

/** The first row of the first page with such a request; the parts of a batch without one are not read. */
async function firstShared(
  overlap: Overlap,
  { sheet }: BatchFile,
  { store, file }: BatchFolder,
): Promise<number | undefined> {
  const passes = await readPasses(store, FIRST_PASS, await newestPass(store));
  // The pages of the sheet do not show all requests.
  if (passes.some(({ isChanged, appended }) => isChanged || appended)) return 1;
  const layout = layoutOf(store, file);
  for (let page = 1; page <= file.sheet.pages; page += 1) {
    const rows = await readPage(layout, page).catch(noneIfMissing);
    const byField = rows.map((row) => ({ ...row, inputs: byFields(row.inputs, sheet.inputs) }));
    if (byField.some((row) => mayAnswer(row, file).some((request) => overlap.has(request))))
      return (page - 1) * PAGE_ROWS + 1;
  }
  return undefined;
}

/** A batch whose pages are missing shares nothing that is known. */
function noneIfMissing(error: unknown): readonly SheetRow[] {
  if (isRunsheetError(error, 'E504')) return [];
  throw error;
}

/** Whether the result of a row can be used for a row that asks for the same: it succeeded, and its files are there. */
async function isReusable(row: BatchRow, { store, file }: BatchFolder): Promise<boolean> {
  const { record } = row;
  if (record?.outcome !== 'succeeded' || !isOnOwnGpu(row, file)) return false;
  const are = await Promise.all(record.files.map((one) => isPresent(store, one)));
  return are.every(Boolean);
}

/** A row that was sent on another GPU than its own answers another request. */
function isOnOwnGpu({ row, record }: BatchRow, file: BatchFile): boolean {
  const asked = record?.gpu_asked;
  const own = row.gpu === undefined ? (file.sheet.options.ladder ?? [file.deployment.gpu]) : [row.gpu];
  return asked === undefined || own.includes(asked);
}

/** Its run succeeded and was paid for, and its files can perhaps be fetched. */
const isUndelivered = (row: BatchRow, file: BatchFile): boolean =>
  row.record !== undefined && undelivered(row.record) !== undefined && isOnOwnGpu(row, file);

async function isPresent(store: Store, { path, bytes }: FileRecord): Promise<boolean> {
  if (!path.startsWith('outputs/') || path.split('/').includes('..')) return false;
  const { localPath } = store;
  if (localPath === undefined) return (await store.facts(path))?.bytes === bytes;
  // A link is no file that a run made.
  const found = await lstat(localPath(path)).catch(unlessAbsent);
  return found?.isFile() === true && found.size === bytes;
}

/** A file that cannot be read may exist: buying its row again needs a decision of the user. */
function unlessAbsent(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
}

/** What an earlier batch has of a row: its result, no outcome yet, the outcome unknown, or a run whose files were not delivered. */
type RowStatus = 'done' | 'open' | 'unknown' | 'undelivered';

type Shared = Omit<Source, 'status'> & { readonly row: number };

type Source = {
  readonly batch: string;
  readonly store: Store;
  readonly isVersionSure: boolean;
  readonly status: RowStatus;
};

const TABLES = `
  PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16000; BEGIN;
  CREATE TABLE wanted (row INTEGER PRIMARY KEY, request TEXT, source INTEGER, origin TEXT, record TEXT);
  CREATE INDEX free ON wanted (request, row) WHERE source IS NULL;
  CREATE TABLE bought (origin TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE unsettled (request TEXT, source INTEGER);
`;

/** The rows of a new batch, each with the earlier row that answers the same request, if there is one. */
export class Overlap implements Disposable {
  readonly rows: number;
  #left = 0;
  // With an empty name SQLite uses a temporary file and removes it.
  readonly #database = new DatabaseSync('');
  readonly #sources: Source[] = [];
  readonly #insert;
  readonly #free;
  readonly #take;
  readonly #buy;
  readonly #unsettled;
  readonly #find;

  constructor(rows: number) {
    this.rows = rows;
    this.#database.exec(TABLES);
    const prepare = (sql: string) => this.#database.prepare(sql);
    this.#insert = prepare('INSERT INTO wanted (row, request) VALUES (?, ?)');
    this.#free = prepare('SELECT row FROM wanted WHERE request = ? AND source IS NULL ORDER BY row LIMIT 1');
    this.#take = prepare('UPDATE wanted SET source = ?, origin = ?, record = ? WHERE row = ?');
    this.#buy = prepare('INSERT OR IGNORE INTO bought VALUES (?)');
    this.#unsettled = prepare('INSERT INTO unsettled VALUES (?, ?)');
    this.#find = prepare('SELECT source, origin, record FROM wanted WHERE row = ? AND record IS NOT NULL');
  }

  get isComplete(): boolean {
    return this.#left === 0;
  }

  get isEmpty(): boolean {
    return this.#sources.length === 0;
  }

  add(row: number, request: string): void {
    this.#insert.run(row, request);
    this.#left += 1;
  }

  /** Whether a row with this request still lacks an earlier one. */
  has(request: string): boolean {
    return !this.isComplete && this.#free.get(request) !== undefined;
  }

  /** A result is used once: a sheet that repeats a request wants several results. */
  addDone(request: string, shared: Shared, record: PartRecord): void {
    const origin = record.reused_from ?? `${shared.batch}#${shared.row}`;
    const isUnused = this.#buy.run(origin).changes === 1;
    if (isUnused) this.#takeFree(request, this.#sourceOf(shared, 'done'), origin, JSON.stringify(record));
  }

  addUnsettled(request: string, shared: Shared, status: Exclude<RowStatus, 'done'>): void {
    this.#unsettled.run(request, this.#sourceOf(shared, status));
  }

  /** An unsettled row counts only if no other batch has the same row done. */
  end(): void {
    const all = this.#database.prepare('SELECT request, source FROM unsettled ORDER BY rowid').all();
    for (const { request, source } of all) this.#takeFree(String(request), Number(source), null, null);
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

  get all(): readonly SharedRows[] {
    return [...this.done, ...this.open, ...this.unknown, ...this.undelivered];
  }

  resultOf(row: number): ReusableRow | undefined {
    const found = this.#find.get(row);
    const source = this.#sources[Number(found?.['source'])];
    if (found === undefined || source === undefined) return undefined;
    const record = parseExactly(String(found['record'])) as PartRecord;
    return { batch: source.batch, store: source.store, origin: String(found['origin']), record };
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

  #sourceOf({ batch, store, isVersionSure }: Shared, status: RowStatus): number {
    const at = this.#sources.findIndex((one) => one.batch === batch && one.status === status);
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
