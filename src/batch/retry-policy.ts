// Whether and when a row gets another attempt. To change the retry policy, change `retryAt`.

import { RETRY_BASE_MS, RETRY_MAX_MS } from './bounds.ts';
import type { Outcome } from './outcome.ts';

/** `tries` counts the runs of this row that ended, this one included. */
export type AttemptEnd = { readonly outcome: Outcome; readonly tries: number; readonly row: number };

/** When to try the row again, by the clock of `now`; undefined if its outcome stands. */
export function retryAt(
  end: AttemptEnd,
  policy: { readonly retries: number; readonly seed: number },
  now: number,
): number | undefined {
  if (end.outcome !== 'failed' && end.outcome !== 'timed-out') return undefined;
  if (end.tries > policy.retries) return undefined;
  return now + backoffMs(end.tries, chance(policy.seed, end.row, end.tries));
}

/** 1 s, 2 s, 4 s … up to a minute, half of it random: rows that failed together do not come back together. */
export function backoffMs(tries: number, drawn: number): number {
  const whole = Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** (tries - 1));
  return Math.round(whole / 2 + (whole / 2) * drawn);
}

/** A number in [0, 1) that depends on its arguments only. */
export function chance(...parts: readonly number[]): number {
  let hash = 0x811c9dc5;
  for (const part of parts) {
    hash = Math.imul(hash ^ part, 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hash ^= hash >>> 16;
  }
  return (hash >>> 0) / 2 ** 32;
}
