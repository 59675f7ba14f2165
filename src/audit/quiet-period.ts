// Enforces a quiet period before a rebuild trusts the run lists: a request that was on the wire when the batch ended may start a run,
// and be listed, only later. Nobody sends from the announcement of the rebuild in started.json on, after the leases of then.

import { CLOCK_SLACK_MS, LEASE_MS } from '../batch/bounds.ts';
import { problem } from '../errors/error.ts';
import type { BatchFile } from '../store/batch-file.ts';
import { readStarted, type ServiceMoment } from '../store/started.ts';
import type { Store } from '../store/store.ts';
import type { ReadBack } from '../batch/commands.ts';

type Timed = { readonly service: Pick<BatchFile['service'], 'timing'> };

export const quietMsOf = ({ service: { timing } }: Timed): number =>
  LEASE_MS + CLOCK_SLACK_MS + timing.postDeadlineMs + timing.settleWithoutControlMs;

/** A user who was told to repeat a rebuild when its quiet period is over has this much longer for it. */
const REPEATED_WITHIN_MS = 15 * 60_000;

/** After how long without news a rebuild counts as given up, so that the execution that has the batch goes on. */
export const givenUpAfterMs = (file: Parameters<typeof quietMsOf>[0]): number =>
  quietMsOf(file) + REPEATED_WITHIN_MS;

/** Throws E511 until the quiet period is over by both clocks. `at`: before the run lists were read. */
export function assertQuiet(
  file: Pick<BatchFile, 'batch' | 'service'>,
  since: ServiceMoment,
  at: ServiceMoment,
): void {
  const passed = [at.now - since.now];
  // The clock of this machine may have leapt.
  if (since.serviceNow !== undefined && at.serviceNow !== undefined)
    passed.push(at.serviceNow - since.serviceNow);
  const leftMs = quietMsOf(file) - Math.min(...passed);
  if (leftMs <= 0) return;
  const reason = `its last requests may still start runs; repeat the same command in ${Math.ceil(leftMs / 1000)} s, when the run list is complete`;
  throw problem('E511', { batch: file.batch, reason });
}

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
