// Limits the send rate while the service responds with 429: a gap between attempts, which doubles with each throttled
// group and shrinks with each other group until the limit is lifted. All groups of the batch share it.

import { RATE_GAP_FIRST_MS, RATE_GAP_MAX_MS, RATE_GAP_MIN_MS, RATE_GAP_SHRINK } from '../bounds.ts';
import { NO_LIMIT, type State } from '../state/state.ts';
import { FREE, type Allowance } from './limit.ts';

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
    const wider = Math.min(RATE_GAP_MAX_MS, Math.max(RATE_GAP_FIRST_MS, gapMs * 2));
    state.rateLimit = { gapMs: wider, nextAt: Math.max(nextAt, state.now + wider) };
    return;
  }
  if (gapMs === 0) return;
  const narrower = gapMs * RATE_GAP_SHRINK;
  state.rateLimit = narrower < RATE_GAP_MIN_MS ? NO_LIMIT : { gapMs: narrower, nextAt };
}

/** Delays the next attempt by the attempts just sent. Unused time does not accumulate. */
export function spendRate(state: State, attempts: number): void {
  const { gapMs, nextAt } = state.rateLimit;
  if (gapMs === 0) return;
  state.rateLimit = { gapMs, nextAt: Math.max(nextAt + attempts * gapMs, state.now + gapMs) };
}
