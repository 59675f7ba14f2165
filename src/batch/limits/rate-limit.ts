// How fast attempts are sent while the service says that it is too fast (429): one after the other with a gap between them,
// which doubles with each group that met a 429 and shrinks with each that did not, until there is none again. All groups of
// the batch share it.

import { RATE_GAP_FIRST_MS, RATE_GAP_MAX_MS, RATE_GAP_MIN_MS, RATE_GAP_SHRINK } from '../bounds.ts';
import { NO_LIMIT, type State } from '../state.ts';
import { FREE, type Allowance } from './limit.ts';

export function rateLimit({ rateLimit: { gapMs, nextAt }, now }: State): Allowance {
  if (gapMs === 0) return FREE;
  return { at: nextAt, most: 1 + Math.max(0, Math.floor((now - nextAt) / gapMs)) };
}

/** What a group met changes the gap for all that follow. */
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

/** Counts what was sent. Time that was not used is not saved up. */
export function spendRate(state: State, attempts: number): void {
  const { gapMs, nextAt } = state.rateLimit;
  if (gapMs === 0) return;
  state.rateLimit = { gapMs, nextAt: Math.max(nextAt + attempts * gapMs, state.now + gapMs) };
}
