// A batch folder that cannot be written is nobody's failure: the workflow is told, pauses, and asks again later.

import { ApplicationFailure } from '@temporalio/common';
import { reasonOf } from '../src/errors.ts';

const CODES = new Set(['ENOTDIR', 'EEXIST', 'ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EIO', 'EFBIG']);

/** Does `work`; throws a FolderFault, which is not tried again by itself, where the disk is what failed. */
export async function onFolder<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined || !CODES.has(code)) throw error;
    throw ApplicationFailure.create({ message: reasonOf(error), type: 'FolderFault', nonRetryable: true });
  }
}
