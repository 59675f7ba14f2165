// Limits the send rate while the service responds with 429: a gap between attempts, which doubles with each throttled
// group and shrinks with each other group until the limit is lifted. All groups of the batch share it.

import type { BatchParams } from '../params.ts';
import { NO_LIMIT, type State, pause, unpause } from '../state/state.ts';
import { type Allowance, FREE, NEVER } from './allowance.ts';
import { REASON_BYTES } from '../bounds.ts';
import { clipped } from '../../options/clipped.ts';
import type { NotAccepted } from '../events.ts';

/** The gap between two attempts while the service throttles; a gap below the minimum becomes none. */
export const RATE_GAP_FIRST_MS = 40;
const RATE_GAP_MIN_MS = 10;
export const RATE_GAP_MAX_MS = 10_000;
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

/**
 * Limits how many POSTs start in a minute, if the user set such a limit. They start evenly: at most a second's share together,
 * so that one group sends many and no minute has more than the limit.
 */
export function startsPerMinute({ params, nextStartAt, now }: State): Allowance {
  if (params.startsPerMinute === undefined) return FREE;
  const { gapMs, together } = paceOf(params.startsPerMinute);
  const saved = Math.floor((now - nextStartAt) / gapMs) + 1;
  // It waits until a full group may start, because each group costs events of the history.
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

// Delays sending after consecutive groups without an accepted attempt, twice as long each time. After a few of them the
// circuit opens: one attempt at a time, until one is accepted. After more the batch pauses as unreachable.
/** The wait after a group that could not be sent: half a second, doubled each time up to the maximum. */
export const HOLD_BASE_MS = 500;
export const HOLD_MAX_MS = 30_000;

/** A longer Retry-After is considered a mistake and cut to this. */
const RETRY_AFTER_MAX_MS = 600_000;

/** After so many consecutive failed groups, the batch sends one attempt at a time; later it pauses. */
export const CIRCUIT_OPENS_AFTER = 3;
export const UNREACHABLE_AFTER = 7;

export function circuitBreaker({ consecutiveFailures, holdUntil, groups }: State): Allowance {
  if (consecutiveFailures < CIRCUIT_OPENS_AFTER) return { at: holdUntil, most: Number.POSITIVE_INFINITY };
  return groups.size === 0 ? { at: holdUntil, most: 1 } : NEVER;
}

/** Resets the failures: the service has accepted a run. */
export function closeCircuit(state: State): void {
  state.consecutiveFailures = 0;
  state.trouble = undefined;
  unpause(state, 'blocked', 'unreachable');
}

/**
 * Counts a group without an accepted attempt as one failure. A Retry-After from the service replaces the backoff, up to
 * a maximum.
 */
export function countFailure(state: State, failed: readonly NotAccepted[]): void {
  const named = failed.map(({ retryAfterMs }) => retryAfterMs).filter((ms) => ms !== undefined);
  const backoff = Math.min(HOLD_MAX_MS, HOLD_BASE_MS * 2 ** Math.min(state.consecutiveFailures, 16));
  if (named.length < failed.length || named.some((ms) => ms > 0)) state.consecutiveFailures += 1;
  const waitMs = named.length === failed.length ? Math.max(...named) : Math.max(backoff, ...named);
  state.holdUntil = Math.max(state.holdUntil, state.now + believable(waitMs));
  state.trouble = clipped(failed.find(({ reason }) => reason)?.reason ?? 'no reason was given', REASON_BYTES);
  if (state.consecutiveFailures >= UNREACHABLE_AFTER)
    pause(state, 'unreachable', `nothing can be sent: ${state.trouble}`);
}

export const believable = (waitMs: number): number => Math.min(RETRY_AFTER_MAX_MS, waitMs);
