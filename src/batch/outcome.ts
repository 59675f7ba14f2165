// How an attempt or a row ended.

export const OUTCOMES = ['succeeded', 'failed', 'timed-out', 'cancelled', 'refused', 'unknown'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** One attempt of a row that is over; `absent`: its POST was proved never to have started a run. */
export type PastAttempt = {
  readonly attempt: number;
  readonly outcome: Outcome | 'absent';
  readonly runId?: string;
  readonly reason?: string;
};
