// A batch as commands and programs have found it.

import { listBatchFolders, type BatchFolder } from '../../store/batch-folders.ts';
import type { BatchRef } from '../../batch/workflow-ids.ts';

export type FoundBatch = BatchFolder;

export const refOf = ({ batch, folder, file: { mark } }: FoundBatch): BatchRef => ({ batch, mark, folder });

/** The newest batch whose name begins so. */
export const batchLike = async (out: string, start: string): Promise<FoundBatch | undefined> =>
  (await listBatchFolders(out)).find(({ batch }) => batch.startsWith(start));
