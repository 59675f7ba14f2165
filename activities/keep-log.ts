// Stores the log of a batch: pauses, and the commands of users.

import type { BatchRef } from '../src/batch/batch-ref.ts';
import type { BatchEvent } from '../src/batch/batch-event.ts';
import { writeEvents } from '../src/results/event-files.ts';
import type { Deps } from './deps.ts';
import { withStore } from './store-failure.ts';

export type LogInput = BatchRef & { readonly number: number; readonly entries: readonly BatchEvent[] };

/** Idempotent: a retry writes the same entries to the same file. */
export async function keepLog(deps: Deps, { number, entries, ...ref }: LogInput): Promise<void> {
  await withStore(async () => writeEvents((await deps.open(ref)).store, number, entries));
}
