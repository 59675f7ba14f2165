// How an attempt or a row ended.

export const OUTCOMES = ['succeeded', 'failed', 'timed-out', 'cancelled', 'refused', 'unknown'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** One attempt of a row that lies behind it; `absent` was sent and proved never to have become a run. */
export type PastAttempt = {
  readonly attempt: number;
  readonly outcome: Outcome | 'absent';
  readonly runId?: string;
  readonly reason?: string;
};
