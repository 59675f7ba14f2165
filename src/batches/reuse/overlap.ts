// Finds the rows of a new batch that earlier batches in the same folder already have: the same inputs and GPU, for the same version
// of the deployment at the same service. Keys are not compared, because a row whose prompt changed may keep its key; only rows that
// differ in nothing but the address of a file are one row by their key, and the user decides about them.

import { lstat } from 'node:fs/promises';
import { pMapIterable } from 'p-map';
import type { PassSegment } from '../../batch/state/lanes.ts';
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
import { byFields } from '../../sheet/named-inputs.ts';
import { requestHash, withoutAddresses, type AddressedRow } from '../request-hash.ts';
import { Overlap } from './matched-rows.ts';
import { isUnread, readStanding, type StandingRow } from '../standing-rows.ts';
import { hasPlace } from '../watched/sheet-places.ts';

/** `key`: its name, if it may be the same row with another address of a file. */
type WantedRow = Pick<SheetRow, 'row' | 'gpu' | 'inputs'> & Partial<Pick<SheetRow, 'key'>>;

export type NewRows = {
  readonly file: BatchFile;
  readonly rows: () => AsyncIterable<WantedRow>;
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
    for await (const row of rows())
      overlap.add(row.row, requestHash(row.inputs, gpuKeyOf(row, file)), addressedIn(row, file));
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

const addressedIn = (row: WantedRow, file: BatchFile): AddressedRow =>
  withoutAddresses(
    row.inputs,
    gpuKeyOf(row, file),
    file.sheet.options.keyColumn === undefined ? undefined : row.key,
  );

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
    const isAnswering = isCounted(row) && !isUnread(row);
    const asSent = rowAsSent(row, file);
    const requests = isAnswering ? requestsAnsweredBy({ ...row, row: asSent }, earlier.file) : [];
    const alike = isAnswering
      ? addressedIn(asSent, earlier.file).hashes.filter((hash) => overlap.hasAlike(hash))
      : [];
    const isWanted = requests.some((hash) => overlap.has(hash)) || alike.length > 0;
    return { row, requests, alike, isDone: isWanted && (await isReusable(row, earlier)) };
  };
  // The files of several rows are checked ahead; rows keep their order.
  for await (const { row, requests, alike, isDone } of pMapIterable(standing.rows(from), asking, {
    concurrency: LOOKED_FOR,
  })) {
    const request = requests.find((hash) => overlap.has(hash));
    const shared = { batch: earlier.batch, store: earlier.store, row: row.row.row, isVersionSure };
    if (request === undefined) {
      if (isDone) overlap.addAlike(alike, shared, row.record as PartRecord);
      continue;
    }
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
  /** Hashes without the addresses of its files that a wanted row has too. */
  readonly alike: readonly string[];
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
    const isAlike = (row: SheetRow): boolean =>
      addressedIn(row, file).hashes.some((hash) => overlap.hasAlike(hash));
    if (byField.some((row) => mayAnswer(row, file).some((request) => overlap.has(request)) || isAlike(row)))
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
