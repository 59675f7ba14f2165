// How long nothing may have been bought before the lists are believed to be complete: what was on the wire when a batch
// ended may start a run, and be listed, only later. The time is taken by our own clock, from a file in the batch folder.

import { CLOCK_SLACK_MS, LEASE_MS } from '../batch/bounds.ts';
import { problem } from '../errors/error.ts';
import type { BatchFile } from '../store/batch-file.ts';
import type { Store } from '../store/store.ts';

const QUIET_FILE = 'recovering.json';

export const quietMsOf = ({ service: { timing } }: Pick<BatchFile, 'service'>): number =>
  LEASE_MS + CLOCK_SLACK_MS + timing.postDeadlineMs + timing.settleWithoutControlMs;

/** Throws E511 until the batch, which must have ended, has been quiet for long enough since this was first asked. */
export async function assertQuiet(
  { store, file, batch }: { readonly store: Store; readonly file: BatchFile; readonly batch: string },
  now: number,
): Promise<void> {
  const text = await store.read(QUIET_FILE);
  const { since = null } = JSON.parse(text ?? '{}') as { since?: number | null };
  // A time that lies ahead was written before the clock was set back.
  const from = since !== null && since <= now ? since : now;
  if (from !== since) await store.write(QUIET_FILE, JSON.stringify({ since: from }));
  const leftMs = from + quietMsOf(file) - now;
  if (leftMs <= 0) return;
  const reason = `its last requests may still start runs; in ${Math.ceil(leftMs / 1000)} s the lists are complete, and the same command goes on`;
  throw problem('E511', { batch, reason });
}

/** The batch goes on: the next time that it has to be rebuilt it must be quiet anew. */
export const endQuiet = (store: Store): Promise<void> =>
  store.write(QUIET_FILE, JSON.stringify({ since: null }));
