// How an attempt or a row ended.

export const OUTCOMES = ['succeeded', 'failed', 'timed-out', 'cancelled', 'refused', 'unknown'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** A finished attempt of a row; `absent`: the lists proved that its POST started no run. */
export type PastAttempt = {
  readonly attempt: number;
  readonly outcome: Outcome | 'absent';
  readonly runId?: string;
  readonly reason?: string;
};
