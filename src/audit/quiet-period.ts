// Enforces a quiet period before a rebuild trusts the run lists: a request that was on the wire when the batch ended may
// start a run, and be listed, only later. A file in the batch folder keeps the start of the period, by our own clock.

import { randomUUID } from 'node:crypto';
import { CLOCK_SLACK_MS, LEASE_MS } from '../batch/bounds.ts';
import { problem } from '../errors/error.ts';
import { type BatchFile } from '../store/batch-file.ts';
import { readStarted } from '../store/started.ts';
import type { Store } from '../store/store.ts';
import type { ReadBack } from '../batch/commands.ts';

const QUIET_FILE = 'recovering.json';

export const quietMsOf = ({ service: { timing } }: Pick<BatchFile, 'service'>): number =>
  LEASE_MS + CLOCK_SLACK_MS + timing.postDeadlineMs + timing.settleWithoutControlMs;

/** Throws E511 until the quiet period since the first call is over. The batch must have ended. */
export async function assertQuiet(
  { store, file, batch }: { readonly store: Store; readonly file: BatchFile; readonly batch: string },
  now: number,
): Promise<void> {
  let from = now;
  await store.update(QUIET_FILE, (text) => {
    const { since = null } = JSON.parse(text ?? '{}') as { since?: number | null };
    // A start in the future means that the clock was set back.
    from = since !== null && since <= now ? since : now;
    return from === since ? undefined : JSON.stringify({ since: from, id: randomUUID() });
  });
  const leftMs = from + quietMsOf(file) - now;
  if (leftMs <= 0) return;
  const reason = `its last requests may still start runs; repeat the same command in ${Math.ceil(leftMs / 1000)} s, when the run list is complete`;
  throw problem('E511', { batch, reason });
}

/** The batch continues, so the next rebuild needs a new quiet period. The id makes it another file than after earlier ones. */
export const endQuiet = (store: Store): Promise<void> =>
  store.update(QUIET_FILE, () => JSON.stringify({ since: null, id: randomUUID() }));

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
