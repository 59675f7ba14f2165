// Advances the batch's own clock, which all decisions use. It follows Temporal's time, the only time that a replay
// repeats, but it never runs backwards, and an unexpected jump counts as one second. So neither a changed system
// clock nor a server that was down for a day proves a run absent, and a clock that was set back stops nothing.

import { CLOCK_IDLE_MS, CLOCK_SLACK_MS } from './bounds.ts';
import type { ReadBack } from './commands.ts';
import { NEVER } from './decisions/decision.ts';
import { readingGapMs, MAX_RECONCILE_MS } from './on-event/list-read.ts';
import type { State } from './state/state.ts';

/** The time that an unexpected jump counts as. */
export const CLOCK_DOUBT_MS = 1_000;

/** Advances the clock to Temporal's time, in milliseconds since 1970. */
export function advanceClock(state: State, wallAt: number): void {
  const passed = Math.max(0, wallAt - state.wallAt);
  // A batch wakes at least this often, so a longer time without a step is no wait of its own.
  const expected = Math.min(CLOCK_IDLE_MS, Math.max(0, state.wakeAt - state.now));
  const hasJumped = passed > expected + CLOCK_SLACK_MS;
  if (hasJumped) widenOffset(state, -passed);
  else if (wallAt < state.wallAt) widenOffset(state, state.wallAt - wallAt);
  state.wallAt = wallAt;
  state.now += hasJumped ? CLOCK_DOUBT_MS : passed;
}

/**
 * The latest time of the next wake: no later than the next reading of the lists while attempts are unconfirmed, so that a
 * clock jump during a long wait cannot count as elapsed time and prove a run absent.
 */
export function latestWakeAt(state: State): number {
  const { now, reconcile, phases, version } = state;
  if (version < 5 || phases.unconfirmed === 0) return NEVER;
  const readingMs = now - (reconcile.requestedAt ?? now);
  return now + Math.max(readingGapMs(state), Math.min(readingMs, MAX_RECONCILE_MS));
}

/** If Temporal's time changed by `-ms`, the service's time may differ from it by that much more, or may still be right. */
function widenOffset(state: State, ms: number): void {
  if (state.serviceOffset === undefined) return;
  const { min, max } = state.serviceOffset;
  state.serviceOffset = { min: Math.min(min, min + ms), max: Math.max(max, max + ms) };
}

/** Records the service's time from a response that just arrived. */
export function noteServiceTime(state: State, serviceNowMs: number): void {
  const offset = serviceNowMs - state.wallAt;
  const { min, max } = state.serviceOffset ?? { min: offset, max: offset };
  state.serviceOffset = { min: Math.min(min, offset), max: Math.max(max, offset) };
}

/**
 * How far back a list must be read to include an attempt sent at this time of the batch's clock and of Temporal's. Either
 * clock may have missed time, so the longer distance is safe.
 */
export function readBack(state: State, sent: { readonly at: number; readonly wallAt: number }): ReadBack {
  const { now, wallAt, serviceOffset: offset } = state;
  const agoMs = Math.max(0, now - sent.at, wallAt - sent.wallAt);
  return { agoMs, wallAt, ...(offset === undefined ? {} : { offset }) };
}
