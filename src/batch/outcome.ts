// How an attempt or a row ended.

/** Snapshots store positions in this list: append a new outcome, and keep the order. */
export const OUTCOMES = ['succeeded', 'failed', 'timed-out', 'cancelled', 'refused', 'unknown'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** What users see in an outcome; the colours of all views follow from it. */
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
  /** The rung of the ladder that it asked for. */
  readonly rung?: number;
};
