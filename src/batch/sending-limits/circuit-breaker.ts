// Delays sending after consecutive groups without an accepted attempt, twice as long each time. After a few of them the
// circuit opens: one attempt at a time, until one is accepted. After more the batch pauses as unreachable.

import { REASON_BYTES } from '../bounds.ts';
import { clipped } from '../../options/clipped.ts';
import type { NotAccepted } from '../events.ts';
import { pause, unpause } from '../pausing/pauses.ts';
import type { State } from '../state/state.ts';
import { NOT_NOW, type Allowance } from './allowance.ts';

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
  return groups.size === 0 ? { at: holdUntil, most: 1 } : NOT_NOW;
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
