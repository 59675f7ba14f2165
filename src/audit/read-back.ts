// Computes from the batch folder how far back the run list must be read to show all runs of a batch.

import type { ReadBack } from '../batch/commands.ts';
import { readStarted } from '../store/batch-file.ts';
import type { Store } from '../store/store.ts';

/** `now` is by our own clock. A batch that never started has no runs. */
export async function readBackToStart(store: Store, now: number): Promise<ReadBack> {
  const started = await readStarted(store);
  const startedAt = started === undefined ? now : Date.parse(started.at);
  const serviceAt = started?.serviceNowMs;
  const offset = serviceAt === undefined ? undefined : serviceAt - startedAt;
  return {
    agoMs: Math.max(0, now - startedAt),
    wallAt: now,
    ...(offset === undefined ? {} : { offset: { min: offset, max: offset } }),
  };
}
