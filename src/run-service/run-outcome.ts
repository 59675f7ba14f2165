// Derives an attempt's outcome from its run. Only this decides that a run has ended (R8).

import { clipped } from '../batch/clipped.ts';
import type { Outcome } from '../batch/outcome.ts';
import { withoutSecrets } from '../errors/redact.ts';
import type { Run } from './contract/run.ts';
import { isTerminal } from './contract/statuses.ts';

export type RunOutcome =
  | { readonly kind: 'open' }
  /** Shown as timed out because it was not updated for a day; it may still start. */
  | { readonly kind: 'stale' }
  | { readonly kind: 'ended'; readonly outcome: Outcome; readonly reason?: string };

export function outcomeOf(run: Pick<Run, 'status' | 'endedAtMs' | 'liveStatus'>): RunOutcome {
  if (!isTerminal(run.status)) return { kind: 'open' };
  switch (run.status) {
    case 'success':
      return { kind: 'ended', outcome: 'succeeded' };
    case 'cancelled':
      return { kind: 'ended', outcome: 'cancelled', reason: 'the run was cancelled on the service' };
    case 'timeout':
      if (run.endedAtMs === undefined) return { kind: 'stale' };
      return { kind: 'ended', outcome: 'timed-out', reason: "the run exceeded its machine's time limit" };
    case 'failed':
      return { kind: 'ended', outcome: 'failed', reason: failedAt(run.liveStatus) };
  }
}

const LIVE_STATUS_BYTES = 200;

// The run contains no reason; its last live status is the only hint.
const failedAt = (liveStatus: string | undefined): string =>
  liveStatus
    ? `the run failed at: ${clipped(withoutSecrets(liveStatus), LIVE_STATUS_BYTES)}`
    : 'the run failed';
