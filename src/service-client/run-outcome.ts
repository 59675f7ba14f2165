// Derives an attempt's outcome from its run. Nothing else decides that a run has ended (R8).

import { REASON_BYTES } from '../batch/bounds.ts';
import { clipped } from '../options/text/clipped.ts';
import type { RunFailure, FailureKind } from '../options/facts/failure-kind.ts';
import type { Outcome } from '../batch/outcome.ts';
import { withoutSecrets } from '../errors/redact.ts';
import type { RunTimes } from '../batch/events.ts';
import type { Run } from './contract/run.ts';
import { isTerminal } from './contract/statuses.ts';

type RunOutcome =
  | { readonly kind: 'open' }
  /** Shown as timed out because it was not updated for a day, but it may still start. */
  | { readonly kind: 'stale' }
  | {
      readonly kind: 'ended';
      readonly outcome: Outcome;
      readonly reason?: string;
      readonly failure?: FailureKind;
      readonly times?: RunTimes;
    };

/** A run, and the cause in its log if it failed. */
export type KnownRun = Run & { readonly failure?: RunFailure };

export function outcomeOf(
  run: Pick<KnownRun, 'status' | 'endedAtMs' | 'liveStatus' | 'failure'> & TimedRun,
): RunOutcome {
  const outcome = withoutTimes(run);
  const times = timesOf(run);
  return outcome.kind === 'ended' && times !== undefined ? { ...outcome, times } : outcome;
}

function withoutTimes(run: Pick<KnownRun, 'status' | 'endedAtMs' | 'liveStatus' | 'failure'>): RunOutcome {
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
      return { kind: 'ended', outcome: 'failed', ...whyFailed(run) };
  }
}

function whyFailed({
  failure,
  liveStatus,
}: Pick<KnownRun, 'failure' | 'liveStatus'>): Pick<RunOutcome & { kind: 'ended' }, 'reason' | 'failure'> {
  if (failure === undefined) return { reason: failedAt(liveStatus) };
  return { reason: clipped(withoutSecrets(failure.reason), REASON_BYTES), failure: failure.kind };
}

const LIVE_STATUS_BYTES = 200;

// Without a log, the last live status is the only hint.
const failedAt = (liveStatus: string | undefined): string =>
  liveStatus
    ? `the run failed at: ${clipped(withoutSecrets(liveStatus), LIVE_STATUS_BYTES)}`
    : 'the run failed';

/** Some services show only some of the four times. */
type TimedRun = Partial<Pick<Run, 'createdAtMs' | 'queuedAtMs' | 'startedAtMs' | 'endedAtMs'>>;

/** A longer time is a mistake of the service. The bound also keeps the sums exact. */
const MAX_MS = 1e9;

/** undefined if the service does not show each step of the run: with steps missing, queueing looks like a slow machine. */
export function timesOf({ createdAtMs, queuedAtMs, startedAtMs, endedAtMs }: TimedRun): RunTimes | undefined {
  const [queueMs, bootMs, runMs] = [
    between(createdAtMs, queuedAtMs),
    between(queuedAtMs, startedAtMs),
    between(startedAtMs, endedAtMs),
  ];
  return queueMs === undefined || bootMs === undefined || runMs === undefined
    ? undefined
    : [queueMs, bootMs, runMs];
}

/** Negative differences occur, because the service rounds some of its times. */
const between = (from: number | undefined, to: number | undefined): number | undefined =>
  from === undefined || to === undefined ? undefined : Math.round(Math.min(MAX_MS, Math.max(0, to - from)));
