// Decides whether and when a row is retried whose run has ended. src/options/facts/failure-kind.ts decides how many times,
// by kind of failure; sending-limits/send-backoff.ts decides when a POST that started no run is repeated.

import { retriesFor, type FailureKind } from '../options/facts/failure-kind.ts';
import type { Outcome } from './outcome.ts';
import type { BatchParams } from './params.ts';
import { seededNumber } from './seeded-number.ts';

export const RETRY_BASE_MS = 1_000;
export const MAX_RETRY_MS = 60_000;

/** `tries` counts the ended runs of this row, including this one. */
export type AttemptEnd = {
  readonly outcome: Outcome;
  readonly failure?: FailureKind | undefined;
  readonly tries: number;
  readonly place: number;
};

/** When to retry the row, by the clock of `now`; undefined if its outcome is final. */
export function retryAt(
  end: AttemptEnd,
  policy: Pick<BatchParams, 'retries' | 'retriesByKind' | 'seed'>,
  now: number,
): number | undefined {
  if (end.outcome !== 'failed' && end.outcome !== 'timed-out') return undefined;
  const kind = end.outcome === 'timed-out' ? 'timeout' : (end.failure ?? 'unknown');
  if (end.tries > retriesFor(kind, policy)) return undefined;
  return now + backoffMs(end.tries, seededNumber(policy.seed, end.place, end.tries));
}

/** 1 s, 2 s, 4 s … up to a minute, half of it jitter: rows that failed together are not retried together. */
export function backoffMs(tries: number, drawn: number): number {
  const ceilingMs = Math.min(MAX_RETRY_MS, RETRY_BASE_MS * 2 ** (tries - 1));
  return Math.round(ceilingMs / 2 + (ceilingMs / 2) * drawn);
}
