// A batch folder that cannot be written is no failure of the batch: the workflow is told, pauses, and asks again later.

import { ApplicationFailure } from '@temporalio/common';
import { errorMessage } from '../src/errors/error.ts';

const CODES = new Set(
  'ENOENT ENOTDIR EEXIST ENOSPC EDQUOT EROFS EACCES EPERM EIO EFBIG ESTALE ENODEV ENXIO'.split(' '),
);

/** What the store holds is not what the batch has written; nothing is overwritten. */
export class StoreConflict extends Error {
  override readonly name = 'StoreConflict';
}

/** Does `work`; throws a failure of type StoreFailed, which Temporal does not retry, where the store is what failed. */
export async function withStore<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const isStore = error instanceof StoreConflict || (code !== undefined && CODES.has(code));
    if (!isStore) throw error;
    throw ApplicationFailure.create({
      message: errorMessage(error),
      type: 'StoreFailed',
      nonRetryable: true,
    });
  }
}
