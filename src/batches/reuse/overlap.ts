// Finds the rows of a new batch that earlier batches in the same folder already have: the same inputs and GPU, for the same version
// of the deployment at the same service. Keys are not compared, because a row whose prompt changed may keep its key. Rows go through
// a temporary SQLite database, because a million rows do not fit in memory.

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
import { isUnread, readStanding, type StandingRow } from '../standing-rows.ts';
import { hasPlace } from '../watched/sheet-places.ts';

export type NewRows = {
  readonly file: BatchFile;
  readonly rows: () => AsyncIterable<Pick<SheetRow, 'row' | 'gpu' | 'inputs'>>;
  /** Ignores rows that other batches took on before this time. */
  readonly since?: string;
};

/** The rows of a laid-out sheet, all by default. */
export const rowsIn = (
  { file, layout }: { readonly file: BatchFile; readonly layout: Store },
  isWanted = (_row: number): boolean => true,
): NewRows => ({
  file,
  rows: async function* () {
    for (let page = 1; page <= file.sheet.pages; page += 1)
      for (const row of await readPage(layout, page))
        if (row.refused === undefined && isWanted(row.row)) yield row;
  },
});

/** A row that succeeded in an earlier batch. `origin` names the row whose run was paid for: `<batch>#<row>`. */
export type ReusableRow = {
  readonly batch: string;
  readonly store: Store;
  readonly origin: string;
  readonly record: PartRecord;
};

/** Compares the wanted rows with `batches`. The caller disposes of the overlap. */
export async function findOverlap(
  batches: readonly BatchFolder[],
  { file, rows, since }: NewRows,
): Promise<Overlap> {
  const candidates: EarlierBatch[] = [];
  for (const folder of batches) {
    const places = mayShare(file, folder.file) ? await placesSince(folder, since) : [];
    if (places?.length !== 0) candidates.push({ ...folder, places });
  }
  const overlap = new Overlap(file.sheet.rows - (file.sheet.refused ?? 0));
  try {
    if (candidates.length === 0) return overlap;
    for await (const row of rows()) overlap.add(row.row, requestHash(row.inputs, gpuKeyOf(row, file)));
    for (const earlier of candidates) if (!overlap.isComplete) await addBatch(overlap, file, earlier);
    overlap.end();
    return overlap;
  } catch (error) {
    overlap[Symbol.dispose]();
    throw error;
  }
}

/** `places`: the rows to compare; undefined for every row. */
type EarlierBatch = BatchFolder & { readonly places: readonly PassSegment[] | undefined };

async function placesSince({ store, file }: BatchFolder, since = ''): Promise<EarlierBatch['places']> {
  if (file.createdAt >= since) return undefined;
  const passes = await readPasses(store, FIRST_PASS, await newestPass(store));
  return passes.filter(({ at }) => at >= since).flatMap(({ segments }) => segments);
}

/** An unknown version counts as the same version; then only the user can decide. */
export function mayShare(file: BatchFile, earlier: BatchFile): boolean {
  const isOtherVersion =
    file.deployment.versionId !== earlier.deployment.versionId &&
    isVersionKnown(file) &&
    isVersionKnown(earlier);
  return (
    !isOtherVersion &&
    file.deployment.id === earlier.deployment.id &&
    isSameService(file.service, earlier.service)
  );
}

const isVersionKnown = ({ deployment }: BatchFile): boolean => deployment.versionId !== undefined;

/** The GPU of a row, or the whole ladder: a row on another ladder is another request. */
function gpuKeyOf({ gpu }: Pick<SheetRow, 'gpu'>, { sheet, deployment }: BatchFile): string {
  const { ladder } = sheet.options;
  return gpu ?? (ladder === undefined ? (deployment.gpu ?? '') : ladder.join(','));
}

/** The requests that a row of an earlier batch answers. A row on a ladder also answers a request for the GPU on which it ended. */
function requestsAnsweredBy(
  { row, record }: Pick<BatchRow, 'row' | 'record'>,
  file: BatchFile,
): readonly string[] {
  const own = requestHash(row.inputs, gpuKeyOf(row, file));
  const isClimbing = row.gpu === undefined && file.sheet.options.ladder !== undefined;
  return isClimbing && record?.gpu_asked !== undefined
    ? [own, requestHash(row.inputs, record.gpu_asked)]
    : [own];
}

/** The requests that a row could answer, before its record is read. */
const mayAnswer = (row: SheetRow, file: BatchFile): readonly string[] =>
  row.gpu === undefined
    ? [gpuKeyOf(row, file), ...(file.sheet.options.ladder ?? [])].map((gpu) => requestHash(row.inputs, gpu))
    : [requestHash(row.inputs, row.gpu)];

/** Throws E504 if the results of shared rows cannot be read: otherwise these rows would silently be bought again. */
async function addBatch(overlap: Overlap, file: BatchFile, earlier: EarlierBatch): Promise<void> {
  const isVersionSure = isVersionKnown(file) && isVersionKnown(earlier.file);
  const from = await firstShared(overlap, file, earlier);
  if (from === undefined) return;
  const standing = await readStanding(earlier);
  const isCounted = ({ sentAgain, record }: StandingRow): boolean =>
    earlier.places === undefined ||
    sentAgain !== undefined ||
    (record !== undefined && hasPlace(earlier.places, placeOf(record)));
  const asking = async (row: StandingRow): Promise<Asking> => {
    const requests =
      isCounted(row) && !isUnread(row)
        ? requestsAnsweredBy({ ...row, row: rowAsSent(row, file) }, earlier.file)
        : [];
    const isWanted = requests.some((hash) => overlap.has(hash));
    return { row, requests, isDone: isWanted && (await isReusable(row, earlier)) };
  };
  // The files of several rows are checked ahead; rows keep their order.
  for await (const { row, requests, isDone } of pMapIterable(standing.rows(from), asking, {
    concurrency: LOOKED_FOR,
  })) {
    const request = requests.find((hash) => overlap.has(hash));
    if (request === undefined) continue;
    const shared = { batch: earlier.batch, store: earlier.store, row: row.row.row, isVersionSure };
    if (row.isOpen) overlap.addUnsettled(request, shared, 'open');
    else if (row.record?.outcome === 'unknown') overlap.addUnsettled(request, shared, 'unknown');
    else if (isUndelivered(row, earlier.file)) overlap.addUnsettled(request, shared, 'undelivered');
    else if (isDone) overlap.addDone(request, shared, row.record as PartRecord);
  }
}

/** Rows whose files are checked at the same time. */
const LOOKED_FOR = 32;

/** A row of an earlier batch, the requests it answers, and whether its result can be used. */
type Asking = {
  readonly row: StandingRow;
  readonly requests: readonly string[];
  readonly isDone: boolean;
};

function rowAsSent({ row, record, sentAgain }: StandingRow, { sheet }: BatchFile): SheetRow {
  const { change } = sentAgain ?? record ?? {};
  return { ...row, inputs: byFields(changedInputs(row.inputs, change), sheet.inputs) };
}

/** The first row of the first page that shares a request, so that batches without a shared row need not be read further. */
async function firstShared(
  overlap: Overlap,
  { sheet }: BatchFile,
  { store, file }: BatchFolder,
): Promise<number | undefined> {
  const passes = await readPasses(store, FIRST_PASS, await newestPass(store));
  // Changed and appended rows are not in the pages of the sheet.
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

/** A batch whose pages are missing has no rows to compare. */
function noneIfMissing(error: unknown): readonly SheetRow[] {
  if (isRunsheetError(error, 'E504')) return [];
  throw error;
}

/** Whether a row with the same request can use the result of `row`: its run succeeded, and its files exist. */
async function isReusable(row: BatchRow, { store, file }: BatchFolder): Promise<boolean> {
  const { record } = row;
  if (record?.outcome !== 'succeeded' || !isOnOwnGpu(row, file)) return false;
  const arePresent = await Promise.all(record.files.map((output) => isPresent(store, output)));
  return arePresent.every(Boolean);
}

/** A row that was sent on another GPU than its own answers another request. */
function isOnOwnGpu({ row, record }: BatchRow, file: BatchFile): boolean {
  const requestedGpu = record?.gpu_asked;
  const own = row.gpu === undefined ? (file.sheet.options.ladder ?? [file.deployment.gpu]) : [row.gpu];
  return requestedGpu === undefined || own.includes(requestedGpu);
}

/** Whether the run succeeded and was paid for, but its files were not fetched. */
const isUndelivered = (row: BatchRow, file: BatchFile): boolean =>
  row.record !== undefined && undelivered(row.record) !== undefined && isOnOwnGpu(row, file);

async function isPresent(store: Store, { path, bytes }: FileRecord): Promise<boolean> {
  if (!path.startsWith('outputs/') || path.split('/').includes('..')) return false;
  const { localPath } = store;
  if (localPath === undefined) return (await store.facts(path))?.bytes === bytes;
  // A run never creates links.
  const stats = await lstat(localPath(path)).catch(unlessAbsent);
  return stats?.isFile() === true && stats.size === bytes;
}

/** An unreadable file may still exist, so the user must decide before its row is bought again. */
function unlessAbsent(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
}

/** The state of a row in an earlier batch: a result, no outcome yet, outcome unknown, or a run whose files were not delivered. */
type RowStatus = 'done' | 'open' | 'unknown' | 'undelivered';

type EarlierRow = Omit<RowSource, 'status'> & { readonly row: number };

type RowSource = {
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

  addUnsettled(request: string, shared: EarlierRow, status: Exclude<RowStatus, 'done'>): void {
    this.#unsettled.run(request, this.#sourceOf(shared, status));
  }

  /** An unsettled row counts only if no other batch has the same row done. */
  end(): void {
    const unsettledRows = this.#database
      .prepare('SELECT request, source FROM unsettled ORDER BY rowid')
      .all();
    for (const { request, source } of unsettledRows)
      this.#takeFree(String(request), Number(source), null, null);
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
    const match = this.#find.get(row);
    const source = this.#sources[Number(match?.['source'])];
    if (match === undefined || source === undefined) return undefined;
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
