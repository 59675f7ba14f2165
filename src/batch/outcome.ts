// How an attempt and its run are identified, and how an attempt or a row ended.

import type { FailureKind } from '../options/facts/failure-kind.ts';

/** Snapshots store positions in this list: append a new outcome, and keep the order. */
export const OUTCOMES = ['succeeded', 'failed', 'timed-out', 'cancelled', 'refused', 'unknown'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** How users judge an outcome; the colours of all views follow from it. */
export const OUTCOME_CLASS: Readonly<Record<Outcome, 'good' | 'bad' | 'odd'>> = {
  succeeded: 'good',
  failed: 'bad',
  'timed-out': 'bad',
  cancelled: 'odd',
  refused: 'bad',
  unknown: 'odd',
};

export type OutcomeCounts = Readonly<Record<Outcome, number>>;

export const countSeenAs = (counts: OutcomeCounts, seen: 'good' | 'bad' | 'odd'): number =>
  OUTCOMES.reduce((sum, outcome) => sum + (OUTCOME_CLASS[outcome] === seen ? counts[outcome] : 0), 0);

export const NO_OUTCOMES = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as OutcomeCounts;

/** A finished attempt of a row; `absent`: the lists proved that its POST started no run. */
export type PastAttempt = {
  readonly attempt: number;
  readonly outcome: Outcome | 'absent';
  readonly runId?: string;
  readonly reason?: string;
  /** The rung of the ladder that the attempt requested. */
  readonly rung?: number;
};

/**
 * A try to start a run for a row, counted from 1. While the service turns the attempt away or cannot be reached,
 * its POST is repeated under the same token.
 */
export type AttemptRef = { readonly place: number; readonly attempt: number };

/** An attempt to be sent; `gpu`: the rung of a ladder on which it runs. */
export type SentAttempt = AttemptRef & { readonly gpu?: string };

/** A run that carries the token of an attempt. */
export type AttemptRun = AttemptRef & { readonly runId: string };

export const attemptKey = ({ place, attempt }: AttemptRef): string => `${place}/${attempt}`;

export type FailureCounts = Readonly<Partial<Record<FailureKind | Outcome, number>>>;

/** The counts with one more attempt; success and cancellation are no failures. */
export function countFailure(
  counts: FailureCounts = {},
  { outcome, failure }: { readonly outcome: Outcome; readonly failure?: FailureKind | undefined },
): FailureCounts | undefined {
  if (outcome === 'succeeded' || outcome === 'cancelled')
    return Object.keys(counts).length > 0 ? counts : undefined;
  const why = failure === undefined || failure === 'unknown' ? outcome : failure;
  return { ...counts, [why]: (counts[why] ?? 0) + 1 };
}
