// The end of a batch: the lists are read once more, and what the user asked for in the first place is written.

import { KnownRuns } from '../src/account/known-runs.ts';
import { readLists } from '../src/account/reading.ts';
import type { BatchView } from '../src/batch/view.ts';
import { writeResults } from '../src/results/results.ts';
import { onFolder } from './folder.ts';
import type { BatchPlace, Hands } from './hands.ts';

export type CloseOrder = BatchPlace & {
  readonly view: BatchView;
  /** When the batch began, in milliseconds since 1970. */
  readonly startedAt: number;
};

/** Doing it twice makes the same files. */
export async function close(hands: Hands, { view, startedAt, ...place }: CloseOrder): Promise<void> {
  const { file, store, service } = await hands.open(place);
  await onFolder(async () => {
    const known = await KnownRuns.of(store, file);
    const reading = await readLists({ file, service, known, since: startedAt, cancels: true });
    if (reading.lists === 'incomplete')
      hands.log.warn(
        { batch: file.batch, reason: reading.reason },
        'the run lists could not be read at the end',
      );
    await writeResults({ file, store, view, startedAt, reading });
  });
}
