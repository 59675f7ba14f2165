// Finds the batch that follows a sheet, so that the same command continues it although the sheet has changed since.

import { listBatchFolders } from '../../store/batch-folders.ts';
import { readWatched, writeWatched } from '../../create-batch/watched/watched-file.ts';
import type { FoundBatch } from '../handle/found-batch.ts';

export type WatchedParams = {
  readonly out: string;
  /** The absolute path of the sheet. */
  readonly path: string;
  /** As the command names it. */
  readonly deployment: string;
  /** The address of the run service. */
  readonly base: string;
  /** The name that the user gave. */
  readonly name?: string | undefined;
};

/** The newest one; undefined if no batch follows the sheet. */
export async function findWatched({
  out,
  path,
  deployment,
  base,
  name,
}: WatchedParams): Promise<FoundBatch | undefined> {
  for (const found of await listBatchFolders(out)) {
    if (found.file.service.base !== base || (name ?? found.batch) !== found.batch) continue;
    const watched = await readWatched(found.store);
    if (watched?.sheet === path && watched.deployment === deployment) return found;
  }
  return undefined;
}

/** Before the batch starts, so that its workers heed every save. */
export const noteWatched = (
  { store }: FoundBatch,
  { path, deployment }: Pick<WatchedParams, 'path' | 'deployment'>,
): Promise<void> => writeWatched(store, { sheet: path, deployment, rows: {}, places: [] });
