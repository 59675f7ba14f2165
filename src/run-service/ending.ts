// What a run's record means for the attempt behind it. Nothing else decides that a run has ended (R8).

import type { Outcome } from '../batch/outcome.ts';
import { isTerminal, type Run } from './contract/run.ts';
import { shortened } from '../outside-text.ts';
import { withoutSecrets } from '../secrets.ts';

export type Standing =
  | { readonly kind: 'open' }
  /** Reported as timed out because nothing touched it for a day; it may still start. */
  | { readonly kind: 'stale' }
  | { readonly kind: 'ended'; readonly outcome: Outcome; readonly reason?: string };

export function standingOf(run: Pick<Run, 'status' | 'endedAtMs' | 'liveStatus'>): Standing {
  if (!isTerminal(run.status)) return { kind: 'open' };
  switch (run.status) {
    case 'success':
      return { kind: 'ended', outcome: 'succeeded' };
    case 'cancelled':
      return { kind: 'ended', outcome: 'cancelled', reason: 'the run was cancelled on the service' };
    case 'timeout':
      if (run.endedAtMs === undefined) return { kind: 'stale' };
      return { kind: 'ended', outcome: 'timed-out', reason: "the run passed its machine's time limit" };
    default:
      return { kind: 'ended', outcome: 'failed', reason: failedAt(run.liveStatus) };
  }
}

// The record carries no reason; how far the run had come is all that it tells.
const failedAt = (liveStatus: string | undefined): string =>
  liveStatus
    ? `the run failed at: ${shortened(withoutSecrets(liveStatus), LIVE_STATUS_MAX)}`
    : 'the run failed';

/** What a run was doing stands in signals and records. */
const LIVE_STATUS_MAX = 300;

/** How long a run may wait for a machine, and how long it may show nothing new once it has one, in milliseconds. */
export type Deadlines = { readonly queueMs: number; readonly runMs: number };

/** Why a run that has not ended is not waited for any longer; undefined while it is. Only ages count, no clock but one. */
export function overdueBy(
  run: Pick<Run, 'status' | 'createdAtMs' | 'startedAtMs' | 'updatedAtMs'>,
  { queueMs, runMs }: Deadlines,
  nowMs: number,
): string | undefined {
  const { status, createdAtMs, startedAtMs, updatedAtMs } = run;
  if (startedAtMs === undefined && status !== 'running') {
    const isLate = createdAtMs !== undefined && nowMs - createdAtMs > queueMs;
    return isLate ? `it did not start within ${inWords(queueMs)}` : undefined;
  }
  const lastMs = updatedAtMs ?? startedAtMs ?? createdAtMs;
  const isStuck = lastMs !== undefined && nowMs - lastMs > runMs;
  return isStuck ? `it showed nothing new for ${inWords(runMs)}` : undefined;
}

const inWords = (ms: number): string =>
  ms >= 3_600_000 ? `${Number((ms / 3_600_000).toFixed(1))} h` : `${Number((ms / 1000).toFixed(1))} s`;
