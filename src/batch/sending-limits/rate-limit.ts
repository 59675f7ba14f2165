// Limits the send rate while the service responds with 429: a gap between attempts, which doubles with each throttled
// group and shrinks with every other group until it vanishes. All groups of the batch share the gap.

import type { BatchParams } from '../params.ts';
import { NO_LIMIT, type State } from '../state/state.ts';
import { type Allowance, FREE } from './allowance.ts';

/** The gap between two attempts while the service throttles; a gap below the minimum becomes none. */
export const RATE_GAP_FIRST_MS = 40;
const MIN_RATE_GAP_MS = 10;
export const MAX_RATE_GAP_MS = 10_000;
const RATE_GAP_SHRINK = 0.8;

export function rateLimit({ rateLimit: { gapMs, nextAt }, now }: State): Allowance {
  if (gapMs === 0) return FREE;
  return { at: nextAt, most: 1 + Math.max(0, Math.floor((now - nextAt) / gapMs)) };
}

/** How many attempts may start within a time. */
export const throttledStarts = ({ rateLimit: { gapMs } }: Pick<State, 'rateLimit'>, ms: number): number =>
  gapMs === 0 ? Number.POSITIVE_INFINITY : 1 + Math.floor(ms / gapMs);

/** Adapts the gap to the result of a group. */
export function adaptRate(state: State, wasThrottled: boolean): void {
  const { gapMs, nextAt } = state.rateLimit;
  if (wasThrottled) {
    const wider = Math.min(MAX_RATE_GAP_MS, Math.max(RATE_GAP_FIRST_MS, gapMs * 2));
    state.rateLimit = { gapMs: wider, nextAt: Math.max(nextAt, state.now + wider) };
    return;
  }
  if (gapMs === 0) return;
  const narrower = gapMs * RATE_GAP_SHRINK;
  state.rateLimit = narrower < MIN_RATE_GAP_MS ? NO_LIMIT : { gapMs: narrower, nextAt };
}

/** Delays the next attempt by the attempts just sent. Unused time does not accumulate. */
export function spendRate(state: State, attempts: number): void {
  const { gapMs, nextAt } = state.rateLimit;
  if (gapMs === 0) return;
  state.rateLimit = { gapMs, nextAt: Math.max(nextAt + attempts * gapMs, state.now + gapMs) };
}

/**
 * Limits how many POSTs start in a minute, if the user set such a limit. POSTs start evenly: at most a second's share
 * together, so that one group sends many and no minute exceeds the limit.
 */
export function startsPerMinute({ params, nextStartAt, now }: State): Allowance {
  if (params.startsPerMinute === undefined) return FREE;
  const { gapMs, together } = paceOf(params.startsPerMinute);
  const saved = Math.floor((now - nextStartAt) / gapMs) + 1;
  // Waits until a full group may start, because each group costs events of the history.
  return { at: nextStartAt + (together - 1) * gapMs, most: Math.max(1, Math.min(together, saved)) };
}

/** How many POSTs may start within a time. */
export function startsWithin({ params }: Pick<State, 'params'>, ms: number): number {
  if (params.startsPerMinute === undefined) return Number.POSITIVE_INFINITY;
  const { gapMs, together } = paceOf(params.startsPerMinute);
  return together + Math.floor(ms / gapMs);
}

export function spendStarts(state: State, attempts: number): void {
  if (state.params.startsPerMinute === undefined) return;
  const { gapMs, together } = paceOf(state.params.startsPerMinute);
  state.nextStartAt = Math.max(state.nextStartAt, state.now - (together - 1) * gapMs) + attempts * gapMs;
}

/** A minute that begins with a full group must still not exceed the limit. */
function paceOf(most: NonNullable<BatchParams['startsPerMinute']>): { gapMs: number; together: number } {
  const together = Math.max(1, Math.floor(most / 60));
  // Sums of fractions may fall short of a minute; a microsecond more for each start does not.
  return { gapMs: 60_000 / (most - together + 1) + 0.001, together };
}
