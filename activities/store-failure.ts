// Marks errors of the store. They do not fail the batch: the workflow pauses and retries later.

import { ApplicationFailure } from '@temporalio/common';
import { errorMessage, isRunsheetError } from '../src/errors/error.ts';

const CODES = new Set(
  'ENOENT ENOTDIR EEXIST ENOSPC EDQUOT EROFS EACCES EPERM EIO EFBIG ESTALE ENODEV ENXIO'.split(' '),
);

/** The store's content differs from what the batch has written; nothing is overwritten. */
export class StoreConflict extends Error {
  override readonly name = 'StoreConflict';
}

/** Runs `work`; turns a store error into a failure of type StoreFailed, which Temporal does not retry. */
export async function withStore<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // E504: the batch folder has vanished, perhaps with its disk, or its batch.json cannot be read. E612: S3 is refused or away.
    const isStore =
      error instanceof StoreConflict ||
      isRunsheetError(error, 'E504') ||
      isRunsheetError(error, 'E612') ||
      (code !== undefined && CODES.has(code));
    if (!isStore) throw error;
    throw ApplicationFailure.create({
      message: errorMessage(error),
      type: 'StoreFailed',
      nonRetryable: true,
    });
  }
}
