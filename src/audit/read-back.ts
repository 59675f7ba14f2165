// How far back the lists must be read for all that a batch has bought, from its folder alone.

import type { ReadBack } from '../batch/commands.ts';
import { readStarted } from '../store/batch-file.ts';
import type { Store } from '../store/store.ts';

/** `now` is our own time. A batch that never started has bought nothing. */
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
