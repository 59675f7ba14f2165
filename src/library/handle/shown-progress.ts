// The progress of a batch as people and scripts see it: with row numbers instead of places.

import type { Progress } from '../../batch/shown/progress.ts';
import { nameOf } from '../../results/batch-rows.ts';
import type { FoundBatch } from './found-batch.ts';

type Failure = NonNullable<Progress['lastFailure']>;

export type ShownProgress = Omit<Progress, 'lastFailure'> & {
  readonly lastFailure?: Omit<Failure, 'place'> & { readonly row: number };
};

/** Reads the queue of the batch if it has one. */
export async function shownProgress(
  { store, file }: Pick<FoundBatch, 'store' | 'file'>,
  { lastFailure, ...progress }: Progress,
): Promise<ShownProgress> {
  if (lastFailure === undefined) return progress;
  const { place, ...failure } = lastFailure;
  const { row } = await nameOf(store, file, { place, attempt: 1 });
  return { ...progress, lastFailure: { row, ...failure } };
}

/** What people are shown as done: rows with an outcome, also while their files are being stored. */
export const rowsEnded = ({ done, collecting }: Pick<Progress, 'done' | 'collecting'>): number =>
  done + collecting;
