// Limits how many POSTs start in a minute, if the user set such a limit. They start evenly: at most a second's share together,
// so that one group sends many and no minute has more than the limit.

import type { BatchParams } from '../params.ts';
import type { State } from '../state/state.ts';
import { FREE, type Allowance } from './limit.ts';

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
