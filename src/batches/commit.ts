// Makes a batch, or rows of a batch, exist, unless another command has made something with some of the rows since they were compared.
// The log of the folder decides about commands in the same folder, wherever they run; a lock decides about the other folders of this
// user. Two commands on two machines that share no folder do not see each other.

import pMap from 'p-map';
import { isRunsheetError } from '../errors/error.ts';
import type { BatchFile } from '../store/batch-file.ts';
import { locationOf, type BatchFolder } from '../store/batch-folders.ts';
import { newestPass } from '../store/passes.ts';
import { batchesAt, placesElsewhere } from './known-places.ts';
import { MadeLog, type Committed, type Creation, type Entry } from './batch-log.ts';
import { lockPlaces } from './places-lock.ts';
import { findOverlap, mayShare, type NewRows } from './reuse/overlap.ts';

/** The batches that rows are compared with, by mark, each with its newest pass. */
export type Compared = ReadonlyMap<string, number>;

/** Notes the newest pass of each batch before the comparison, so that rows added later are recognised. 0 for a batch that can share no row. */
export const comparedWith = async (file: BatchFile, batches: readonly BatchFolder[]): Promise<Compared> => {
  const passOf = async (folder: BatchFolder) =>
    [folder.file.mark, mayShare(file, folder.file) ? await newestPass(folder.store) : 0] as const;
  return new Map(await pMap(batches, passOf, { concurrency: CONCURRENCY }));
};

const CONCURRENCY = 32;

export type Commit = {
  /** The folder of its batch. */
  readonly out: string;
  /** The batch that is made, or gets rows. */
  readonly file: BatchFile;
  readonly rows: NewRows;
  /** undefined if batches in other folders do not matter. */
  readonly places: string | undefined;
  readonly creation: Creation;
  /** Whether nobody has made the file yet; asked after all entries of the log were read. */
  readonly checkFree: () => Promise<boolean>;
  /** Called if the file may come to exist although its creation failed. */
  readonly onDoubt?: (() => void) | undefined;
};

/** The moment at which rows were compared, and the batches they were compared with. */
export type Comparing = {
  /** The position in the log before the batches were listed. */
  readonly position: number;
  readonly compared: Compared;
  /** Whether the user has decided about batches in other folders. */
  readonly isElsewhereMeant: boolean;
};

/**
 * `taken`: the file exists already. `overtaken`: another command has made something with some of the rows. `comparing`: undefined if all
 * rows are bought in any case.
 */
export async function commit(params: Commit, comparing: Comparing | undefined): Promise<Committed> {
  const { out, file, places, creation, checkFree, onDoubt } = params;
  const log = new MadeLog(out);
  using held = new DisposableStack();
  if (places !== undefined) held.use(await lockPlaces(places, file.deployment.id));
  if (comparing !== undefined && (await hasRows(params, await newsElsewhere(params, comparing))))
    return 'overtaken';
  const isOvertaken = async (entries: readonly (Entry | undefined)[]): Promise<boolean> => {
    if (comparing === undefined) return false;
    // An entry of another version: its batch is compared where batches are listed.
    return entries.includes(undefined) || hasRows(params, await newsIn(log, entries));
  };
  const position = comparing?.position ?? (await log.position());
  // Awaited here: the lock is held until the file exists.
  return await log.commit(position, creation, { isOvertaken, checkFree, onDoubt });
}

/** Batches in other folders that were made, or have got rows, since. */
async function newsElsewhere(
  { out, file, places }: Commit,
  { compared, isElsewhereMeant }: Comparing,
): Promise<readonly BatchFolder[]> {
  if (places === undefined || isElsewhereMeant) return [];
  const batches = await batchesAt(await placesElsewhere(places, { out, file }));
  const passes = await comparedWith(file, batches);
  return batches.filter(({ file: { mark } }) => passes.get(mark) !== compared.get(mark));
}

async function newsIn(
  log: MadeLog,
  entries: readonly (Entry | undefined)[],
): Promise<readonly BatchFolder[]> {
  const byMark = new Map<string, BatchFolder>();
  for (const entry of entries) {
    const batch = entry && (await log.batchOf(entry));
    if (batch !== undefined) byMark.set(batch.file.mark, batch);
  }
  return [...byMark.values()];
}

async function hasRows({ out, file, rows }: Commit, batches: readonly BatchFolder[]): Promise<boolean> {
  const own = locationOf(out, file.batch);
  const rivals = batches.filter(
    // The same rows under the same name are one batch: only one command can create batch.json.
    (batch) => batch.file.mark !== file.mark && (batch.file.content !== file.content || batch.folder !== own),
  );
  if (rivals.length === 0) return false;
  try {
    using overlap = await findOverlap(rivals, rows);
    return !overlap.isEmpty;
  } catch (error) {
    // The layout of a batch that was not made after all is gone; what is wrong with a batch shows when it is compared again.
    if (isRunsheetError(error, 'E504')) return true;
    throw error;
  }
}
