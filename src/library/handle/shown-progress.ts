// The progress of a batch as people and scripts see it: with row numbers instead of places.

import type { Progress } from '../../batch/shown/progress.ts';
import { reasonWithRows } from '../../results/reason-with-rows.ts';
import { nameOf } from '../../results/batch-rows.ts';
import type { FoundBatch } from './found-batch.ts';

type Failure = NonNullable<Progress['lastFailure']>;

export type ShownProgress = Omit<Progress, 'lastFailure' | 'pauses'> & {
  readonly pauses: readonly Omit<Progress['pauses'][number], 'places'>[];
  readonly lastFailure?: Omit<Failure, 'place'> & { readonly row: number };
};

/** Reads the queue of the batch if it has one. */
export async function shownProgress(
  { store, file }: Pick<FoundBatch, 'store' | 'file'>,
  { lastFailure, ...progress }: Progress,
): Promise<ShownProgress> {
  const pauses = await Promise.all(progress.pauses.map((one) => reasonWithRows(store, file, one)));
  const reason = pauses[0]?.reason ?? progress.reason;
  const shown = { ...progress, pauses, ...(reason === undefined ? {} : { reason }) };
  if (lastFailure === undefined) return shown;
  const { place, ...failure } = lastFailure;
  const { row } = await nameOf(store, file, { place, attempt: 1 });
  return { ...shown, lastFailure: { row, ...failure } };
}

/** What people are shown as done: rows with an outcome, also while their files are being stored. */
export const rowsEnded = ({ done, collecting }: Pick<Progress, 'done' | 'collecting'>): number =>
  done + collecting;
