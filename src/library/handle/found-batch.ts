// A batch that a command or a program has found.

import { listBatchFolders, type BatchFolder } from '../../store/batch-folders.ts';
import type { BatchRef } from '../../batch/workflow-ids.ts';

export type FoundBatch = BatchFolder;

export const refOf = ({ batch, folder, file: { mark } }: FoundBatch): BatchRef => ({ batch, mark, folder });

/** The newest batch whose name starts with `start`. */
export const batchLike = async (out: string, start: string): Promise<FoundBatch | undefined> =>
  (await listBatchFolders(out)).find(({ batch }) => batch.startsWith(start));
