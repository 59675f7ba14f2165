// Reads the runs that matched no row in the workflow's state, from the workflow and from its files.

import type { AttemptRun } from '../batch/attempt.ts';
import { EVIDENCE } from '../store/batch-file.ts';
import { linesOf } from '../store/pieces.ts';
import type { Store } from '../store/store.ts';

export async function* keptEvidence(
  store: Store,
  evidence: readonly AttemptRun[],
): AsyncGenerator<AttemptRun> {
  yield* evidence;
  for (const name of await store.list(EVIDENCE))
    for await (const line of linesOf(store, `${EVIDENCE}/${name}`)) yield JSON.parse(line) as AttemptRun;
}
