// The batch's own clock, by which everything is decided. It follows Temporal's time, which is the only one that a replay
// repeats, but trusts it no further than it must: it never runs backwards, and time that the batch did not expect to pass
// hardly counts. So neither a clock that was set nor a server that was down for a day proves that a run is absent, and a
// clock that was set back stops nothing.

import { CLOCK_DOUBT_MS, CLOCK_IDLE_MS, CLOCK_SLACK_MS } from './bounds.ts';
import type { ReadBack } from './commands.ts';
import type { State } from './state.ts';

/** Lets the clock run on to Temporal's time, in milliseconds since 1970. */
export function advanceClock(state: State, wallAt: number): void {
  const passed = Math.max(0, wallAt - state.wallAt);
  const expected = Number.isFinite(state.wakeAt) ? Math.max(0, state.wakeAt - state.now) : CLOCK_IDLE_MS;
  state.wallAt = wallAt;
  state.now += passed <= expected + CLOCK_SLACK_MS ? passed : CLOCK_DOUBT_MS;
}

/** The service has just said what time it is. */
export function noteServiceTime(state: State, serviceNowMs: number): void {
  const offset = serviceNowMs - state.wallAt;
  const { min, max } = state.serviceOffset ?? { min: offset, max: offset };
  state.serviceOffset = { min: Math.min(min, offset), max: Math.max(max, offset) };
}

/**
 * How far back the lists must be read for what was sent at a moment of the batch's clock and of Temporal's. Neither may have
 * missed any time, so the longer way is the safe one.
 */
export function readBack(state: State, sent: { readonly at: number; readonly wallAt: number }): ReadBack {
  const { now, wallAt, serviceOffset: offset } = state;
  const agoMs = Math.max(0, now - sent.at, wallAt - sent.wallAt);
  return { agoMs, wallAt, ...(offset === undefined ? {} : { offset }) };
}
