// Decides from poll to poll whether a run has ended or is overdue. An age is the difference of two times of one clock (R25), the
// service's or ours. If both ages are known, the smaller one counts, so that a wrong or adjusted clock never makes a healthy run
// look stuck.

import type { FailureKind } from '../options/facts/failure-kind.ts';
import type { RunTimes } from '../batch/events.ts';
import type { Outcome } from '../batch/outcome.ts';
import type { Run } from './contract/run.ts';
import { outcomeOf } from './run-outcome.ts';
import { span } from '../options/text/printed-numbers.ts';

/** How long a run may wait for a machine, and run without progress, in milliseconds; undefined means forever. */
export type Deadlines = { readonly queueMs?: number | undefined; readonly runMs?: number | undefined };

export type Sight =
  | {
      readonly kind: 'run';
      readonly run: Pick<
        Run,
        'status' | 'endedAtMs' | 'liveStatus' | 'progress' | 'createdAtMs' | 'startedAtMs' | 'updatedAtMs'
      > &
        Partial<Pick<Run, 'queuedAtMs'>>;
      /** The service's own time of this read. */
      readonly serviceNowMs: number | undefined;
    }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unread' };

/** Carried from poll to poll. Durations are sums of the intervals between polls, by Temporal's clock. */
export const NOT_OBSERVED = {
  /** A hash of the run's last progress. */
  shown: 0,
  /** How long the run has not changed, and how long the service has not known it. */
  quietMs: 0,
  missingMs: 0,
  isReported: false,
};
export type Observation = Readonly<typeof NOT_OBSERVED>;

export type Report =
  | {
      readonly kind: 'completed';
      readonly outcome: Outcome;
      readonly reason?: string;
      readonly failure?: FailureKind;
      readonly times?: RunTimes;
    }
  | { readonly kind: 'overdue'; readonly reason: string };

/** After this time, a run that the service does not know counts as gone. */
export const MAX_MISSING_MS = 60_000;

/** The shortest observation before a run counts as stuck, however old it looks. */
export const MIN_QUIET_MS = 30_000;

/** `sinceLastMs`: time since the last poll; `ageMs`: how long the batch has known the run. */
type Interval = { readonly sinceLastMs: number; readonly ageMs: number; readonly deadlines: Deadlines };

export function observe(
  before: Observation,
  sight: Sight,
  interval: Interval,
): { readonly after: Observation; readonly report?: Report } {
  if (sight.kind === 'unread') return { after: before };
  if (sight.kind === 'missing') return observeMissing(before, interval);
  const shown = shownBy(sight.run);
  const quietMs = shown === before.shown ? before.quietMs + interval.sinceLastMs : 0;
  const after = { ...before, shown, quietMs, missingMs: 0 };
  const state = outcomeOf(sight.run);
  if (state.kind === 'ended') {
    const report = { ...state, kind: 'completed' } as const;
    return before.isReported ? { after } : { after: { ...after, isReported: true }, report };
  }
  const reason =
    state.kind === 'stale'
      ? 'the service does not know how the run has ended'
      : overdueReason(sight, quietMs, interval);
  return reason === undefined ? { after } : { after, report: { kind: 'overdue', reason } };
}

function observeMissing(before: Observation, { sinceLastMs }: Interval) {
  const after = { ...before, missingMs: before.missingMs + Math.max(1, sinceLastMs) };
  if (after.missingMs < MAX_MISSING_MS || before.isReported) return { after };
  const report = {
    kind: 'completed',
    outcome: 'unknown',
    reason: 'the service no longer knows the run',
  } as const;
  return { after: { ...after, isReported: true }, report };
}

type ObservedRun = Extract<Sight, { kind: 'run' }>['run'];

const hasStarted = ({ status, startedAtMs }: ObservedRun): boolean =>
  startedAtMs !== undefined || status === 'running';

function shownBy(run: ObservedRun) {
  const { status, updatedAtMs, progress, liveStatus } = run;
  // Before the start, the live status says why the run waits, and changes whenever another run in the queue ends.
  const step = hasStarted(run) ? (liveStatus ?? '') : '';
  const text = `${status} ${updatedAtMs ?? ''} ${progress} ${step}`;
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

function overdueReason(
  { run, serviceNowMs }: Extract<Sight, { kind: 'run' }>,
  quietMs: number,
  { ageMs, deadlines: { queueMs, runMs } }: Interval,
): string | undefined {
  const { createdAtMs, startedAtMs, updatedAtMs } = run;
  const isStarted = hasStarted(run);
  const mostMs = isStarted ? runMs : queueMs;
  const fromMs = isStarted ? (updatedAtMs ?? startedAtMs ?? createdAtMs) : createdAtMs;
  if (mostMs === undefined || quietMs < MIN_QUIET_MS) return undefined;
  // Without the service's time, the run must be observed for the whole deadline.
  const serviceAgeMs = serviceNowMs === undefined || fromMs === undefined ? quietMs : serviceNowMs - fromMs;
  if (Math.min(serviceAgeMs, ageMs) <= mostMs) return undefined;
  return isStarted
    ? `the run made no progress for ${span(mostMs / 1_000)}`
    : `the run did not start within ${span(mostMs / 1_000)}`;
}
