// Enforces a quiet period before a rebuild trusts the run lists: a request that was on the wire when the batch ended
// may start a run, which is listed later. Nobody sends after the announcement of the rebuild in started.json, once
// the leases of that moment have ended.

import { CLOCK_SLACK_MS, LEASE_MS } from '../batch/bounds.ts';
import { problem } from '../errors/error.ts';
import type { BatchFile } from '../store/batch-file.ts';
import { readStarted, type ServiceMoment } from '../store/started.ts';
import type { Store } from '../store/store.ts';
import type { ReadBack } from '../batch/commands.ts';
import { span } from '../options/text/printed-numbers.ts';

type Timed = { readonly service: Pick<BatchFile['service'], 'timing'> };

export const quietMsOf = ({ service: { timing } }: Timed): number =>
  LEASE_MS + CLOCK_SLACK_MS + timing.postDeadlineMs + timing.settleWithoutControlMs;

/** How much longer a user who was told to repeat a rebuild after its quiet period has for that. */
const REPEATED_WITHIN_MS = 15 * 60_000;

/** How long without news until a rebuild counts as given up, so that the owning execution continues. */
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
  const reason = `its last requests may still start runs; repeat the same command in ${span(Math.ceil(leftMs / 1_000))}, when the run list is complete`;
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
