// Writes what the state of a workflow has no room for: its event log, and the evidence for its last reading of the lists.

import type { AttemptRun } from '../src/batch/outcome.ts';
import type { BatchRef } from '../src/batch/workflow-ids.ts';
import type { BatchEvent } from '../src/batch/events.ts';
import { writeEvents } from '../src/results/all-events.ts';
import { evidenceName } from '../src/store/batch-file.ts';
import { jsonLines } from '../src/store/pieces.ts';
import type { Deps } from './deps.ts';
import { withStore } from './activity-failures.ts';

type EvidenceInput = BatchRef & { readonly number: number; readonly runs: readonly AttemptRun[] };

/**
 * Stores runs that no row in the workflow's state explains, for the last reading of the run lists. Idempotent: a retry writes the same
 * runs to the same file.
 */
export async function keepEvidence(deps: Deps, { number, runs, ...ref }: EvidenceInput): Promise<void> {
  await withStore(async () => (await deps.open(ref)).store.write(evidenceName(number), jsonLines(runs)));
}

export type LogInput = BatchRef & { readonly number: number; readonly entries: readonly BatchEvent[] };

/** Idempotent: a retry writes the same entries to the same file. */
export async function keepLog(deps: Deps, { number, entries, ...ref }: LogInput): Promise<void> {
  await withStore(async () => writeEvents((await deps.open(ref)).store, number, entries));
}
