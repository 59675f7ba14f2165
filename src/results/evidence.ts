// Reads the runs that matched no row in the workflow's state, from the workflow and from its files.

import { createInterface } from 'node:readline';
import type { AttemptRun } from '../batch/attempt.ts';
import { EVIDENCE } from '../store/batch-file.ts';
import type { Store } from '../store/store.ts';

export async function* keptEvidence(
  store: Store,
  evidence: readonly AttemptRun[],
): AsyncGenerator<AttemptRun> {
  yield* evidence;
  for (const name of await store.list(EVIDENCE))
    for await (const line of createInterface({ input: store.open(`${EVIDENCE}/${name}`) }))
      if (line !== '') yield JSON.parse(line) as AttemptRun;
}
