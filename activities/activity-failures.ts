// The failures by which activities tell Temporal that another attempt would not help.

import { activityInfo, Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { codedMessage, errorMessage, isRunsheetError, type RunsheetError } from '../src/errors/error.ts';
import type { Deps } from './deps.ts';

/** Marks errors of the store. They do not fail the batch: the workflow pauses and retries later. */
const CODES = new Set(
  'ENOENT ENOTDIR EEXIST ENOSPC EDQUOT EROFS EACCES EPERM EIO EFBIG ESTALE ENODEV ENXIO'.split(' '),
);

/** The store's content differs from what the batch has written; nothing is overwritten. */
export class StoreConflict extends Error {
  override readonly name = 'StoreConflict';
}

/**
 * How many times any other error is retried, which takes a minute: an activity that failed for ever would leave the
 * batch waiting without a reason.
 */
export const OTHER_TRIES = 10;

/**
 * Runs `work`. A store error becomes a failure of type StoreFailed, which Temporal does not retry and which pauses
 * the batch; so does any other error that repeats (R34).
 */
export async function withStore<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // E504: the batch folder has vanished, perhaps with its disk, or its batch.json cannot be read. E612: S3 refuses
    // requests or is away.
    const isStore =
      error instanceof StoreConflict ||
      isRunsheetError(error, 'E504') ||
      isRunsheetError(error, 'E612') ||
      (code !== undefined && CODES.has(code));
    if (!isStore && !isRepeated(error)) throw error;
    throw ApplicationFailure.create({
      message: errorMessage(error),
      type: 'StoreFailed',
      nonRetryable: true,
    });
  }
}

/**
 * Whether the error keeps recurring. A worker that stops, or an activity that was given up, says nothing about the
 * work.
 */
function isRepeated(error: unknown): boolean {
  const { cancellationSignal, info } = Context.current();
  const isStopped = cancellationSignal.aborted || (error as Error).name === 'AbortError';
  return !isStopped && !(error instanceof ApplicationFailure) && info.attempt >= OTHER_TRIES;
}

/**
 * Throws if Temporal no longer waits for this attempt. An abandoned attempt, for example on a frozen worker, knows
 * less than the current one: at the end of a batch its files would name fewer duplicates, and at the start an older
 * workflow run.
 */
export async function confirmOurs({ completion }: Pick<Deps, 'completion'>): Promise<void> {
  await completion.heartbeat(activityInfo().taskToken, undefined);
}

/** The failure by which Temporal shows an error of ours that another attempt would not correct. */
export function finalFailure(error: RunsheetError): ApplicationFailure {
  const { code, message, hint } = error;
  return ApplicationFailure.nonRetryable(codedMessage(error), code, { message, hint });
}
