// Stores runs that no row in the workflow's state explains, for the last reading of the run lists.

import type { AttemptRun } from '../src/batch/attempt.ts';
import { evidenceName } from '../src/store/batch-file.ts';
import type { Deps } from './deps.ts';
import type { BatchRef } from '../src/batch/batch-ref.ts';
import { withStore } from './store-failure.ts';

export type EvidenceInput = BatchRef & { readonly number: number; readonly runs: readonly AttemptRun[] };

/** Idempotent: a retry writes the same runs to the same file. */
export async function keepEvidence(deps: Deps, { number, runs, ...ref }: EvidenceInput): Promise<void> {
  const text = runs.map((run) => `${JSON.stringify(run)}\n`).join('');
  await withStore(async () => (await deps.open(ref)).store.write(evidenceName(number), text));
}
