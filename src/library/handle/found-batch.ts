// Finds the batch that a command names, from the batch folders.

import { correctionOf, nearest, problem } from '../../errors/error.ts';
import { listBatchFolders, openBatchFolder, type BatchFolder } from '../../store/batch-folders.ts';
import type { BatchRef } from '../../batch/workflow-ids.ts';

export type FoundBatch = BatchFolder;

export const refOf = ({ batch, folder, file: { mark } }: FoundBatch): BatchRef => ({ batch, mark, folder });

/** The newest batch whose name begins so. */
export const batchLike = async (out: string, start: string): Promise<FoundBatch | undefined> =>
  (await listBatchFolders(out)).find(({ batch }) => batch.startsWith(start));

/** The batch with this name, or the only one whose name begins with it; the newest without a name. Throws E502. */
export async function findBatch(out: string, name: string | undefined): Promise<FoundBatch> {
  const exact = name === undefined ? undefined : await openBatchFolder(out, name);
  if (exact !== undefined) return exact;
  const all = await listBatchFolders(out);
  const matching = name === undefined ? all.slice(0, 1) : all.filter(({ batch }) => batch.startsWith(name));
  const [only] = matching;
  if (only !== undefined && matching.length === 1) return only;
  const known = (matching.length > 1 ? matching : all).map(({ batch }) => batch);
  // The newest is first, and the most likely one.
  const isAmbiguous = matching.length > 1;
  const near = isAmbiguous ? only?.batch : nearest(name ?? '', known);
  throw problem(
    'E502',
    { batch: name, out, known: known.slice(0, 10), near, isAmbiguous },
    { correction: correctionOf(name ?? '', near) },
  );
}
