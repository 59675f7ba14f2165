// How fast attempts are sent while the service says that it is too fast (429): one after the other with a gap between that
// doubles with each group that met a 429 and shrinks with each that did not, until there is none again. All groups of the
// batch share it. How many slots there are is another matter.

import { PACE_GAP_FIRST_MS, PACE_GAP_MAX_MS, PACE_GAP_MIN_MS, PACE_SHRINK } from './limits.ts';
import type { State } from './state.ts';

export type Pace = {
  /** Between two attempts; 0 where nobody complains. */
  readonly gapMs: number;
  /** The next attempt may be sent from here. */
  readonly nextAt: number;
};

export const NO_PACE: Pace = { gapMs: 0, nextAt: 0 };

/** What a group met changes the gap for all that follow. */
export function adapt(state: State, wasTooFast: boolean): void {
  const { gapMs, nextAt } = state.pace;
  if (wasTooFast) {
    const wider = Math.min(PACE_GAP_MAX_MS, Math.max(PACE_GAP_FIRST_MS, gapMs * 2));
    state.pace = { gapMs: wider, nextAt: Math.max(nextAt, state.now + wider) };
    return;
  }
  if (gapMs === 0) return;
  const narrower = gapMs * PACE_SHRINK;
  state.pace = narrower < PACE_GAP_MIN_MS ? NO_PACE : { gapMs: narrower, nextAt };
}

/** How many attempts may be sent at this moment. */
export function allowedByPace({ pace, now }: State): number {
  if (pace.gapMs === 0) return Number.POSITIVE_INFINITY;
  return now < pace.nextAt ? 0 : 1 + Math.floor((now - pace.nextAt) / pace.gapMs);
}

/** Counts what was sent. Time that was not used is not saved up. */
export function spend(state: State, attempts: number): void {
  const { gapMs, nextAt } = state.pace;
  if (gapMs === 0 || attempts === 0) return;
  state.pace = { gapMs, nextAt: Math.max(nextAt + attempts * gapMs, state.now + gapMs) };
}
