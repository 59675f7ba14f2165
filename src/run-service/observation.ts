// What a poll knows of one run from look to look, and what follows from the next sight of it. Ages are differences of times
// of one clock (R25): the service's own, or ours; where both are known the smaller one counts, so that no clock that is wrong
// or that is set makes a healthy run look stuck.

import type { Outcome } from '../batch/outcome.ts';
import type { Run } from './contract/run.ts';
import { outcomeOf } from './run-outcome.ts';

/** How long a run may wait for a machine, and show nothing new once it has one, in milliseconds; undefined: for ever. */
export type Deadlines = { readonly queueMs?: number | undefined; readonly runMs?: number | undefined };

export type Sight =
  | {
      readonly kind: 'run';
      readonly run: Pick<
        Run,
        'status' | 'endedAtMs' | 'liveStatus' | 'progress' | 'createdAtMs' | 'startedAtMs' | 'updatedAtMs'
      >;
      /** The service's own time when it said so. */
      readonly serviceNowMs: number | undefined;
    }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unread' };

/** Kept from look to look. Times are counted from look to look, by Temporal's clock. */
export type Observation = {
  /** A fingerprint of what the run showed last. */
  readonly shown: number;
  /** For how long it has shown just that, and for how long the service has not known it. */
  readonly quietMs: number;
  readonly missingMs: number;
  readonly isReported: boolean;
};

export const NOT_OBSERVED: Observation = { shown: 0, quietMs: 0, missingMs: 0, isReported: false };

export type Report =
  | { readonly kind: 'completed'; readonly outcome: Outcome; readonly reason?: string }
  | { readonly kind: 'overdue'; readonly reason: string };

/** A run that the service says for this long that it does not know is gone. */
export const MISSING_MOST_MS = 60_000;

/** However old a run looks, it is watched for this long before it counts as stuck. */
export const QUIET_LEAST_MS = 30_000;

/** `sinceLastMs`: time since the last look; `ageMs`: how long the batch has known the run. */
type Look = { readonly sinceLastMs: number; readonly ageMs: number; readonly deadlines: Deadlines };

export function observe(
  before: Observation,
  sight: Sight,
  look: Look,
): { readonly after: Observation; readonly report?: Report } {
  if (sight.kind === 'unread') return { after: before };
  if (sight.kind === 'missing') return observeMissing(before, look);
  const shown = shownBy(sight.run);
  const quietMs = shown === before.shown ? before.quietMs + look.sinceLastMs : 0;
  const after = { ...before, shown, quietMs, missingMs: 0 };
  const state = outcomeOf(sight.run);
  if (state.kind === 'ended') {
    const { outcome, reason } = state;
    const report = { kind: 'completed', outcome, ...(reason === undefined ? {} : { reason }) } as const;
    return before.isReported ? { after } : { after: { ...after, isReported: true }, report };
  }
  const reason =
    state.kind === 'stale' ? 'nothing touched it for a day' : overdueReason(sight, quietMs, look);
  return reason === undefined ? { after } : { after, report: { kind: 'overdue', reason } };
}

function observeMissing(before: Observation, { sinceLastMs }: Look) {
  const after = { ...before, missingMs: before.missingMs + Math.max(1, sinceLastMs) };
  if (after.missingMs < MISSING_MOST_MS || before.isReported) return { after };
  const report = {
    kind: 'completed',
    outcome: 'unknown',
    reason: 'the service does not know the run any more',
  } as const;
  return { after: { ...after, isReported: true }, report };
}

function shownBy({
  status,
  updatedAtMs,
  progress,
  liveStatus,
}: Extract<Sight, { kind: 'run' }>['run']): number {
  const text = `${status} ${updatedAtMs ?? ''} ${progress} ${liveStatus ?? ''}`;
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

function overdueReason(
  { run, serviceNowMs }: Extract<Sight, { kind: 'run' }>,
  quietMs: number,
  { ageMs, deadlines: { queueMs, runMs } }: Look,
): string | undefined {
  const { status, createdAtMs, startedAtMs, updatedAtMs } = run;
  const hasStarted = startedAtMs !== undefined || status === 'running';
  const mostMs = hasStarted ? runMs : queueMs;
  const fromMs = hasStarted ? (updatedAtMs ?? startedAtMs ?? createdAtMs) : createdAtMs;
  if (mostMs === undefined || quietMs < QUIET_LEAST_MS) return undefined;
  // A service that does not tell its time is watched for the whole time.
  const theirs = serviceNowMs === undefined || fromMs === undefined ? quietMs : serviceNowMs - fromMs;
  if (Math.min(theirs, ageMs) <= mostMs) return undefined;
  return hasStarted
    ? `it showed nothing new for ${inWords(mostMs)}`
    : `it did not start within ${inWords(mostMs)}`;
}

const inWords = (ms: number): string =>
  ms >= 3_600_000 ? `${Number((ms / 3_600_000).toFixed(1))} h` : `${Number((ms / 1000).toFixed(1))} s`;
