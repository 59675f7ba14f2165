// The GPU ladder (--ladder T4,A10G,H100). Rows that name no GPU start on a rung, and climb when their run needs more memory or
// time. The batch sees no inputs, so the layout puts rows into size classes, and each class is a lane:
//
//   lane.climb.rung      where attempts of the class start; it rises when a run on it fails for memory or time, and never sinks
//   lane.climb.isProven  whether a run has succeeded there; before that, at most two runs of the class try it
//
// A larger class never starts below the rung that a smaller class needs. Climbing is no retry: it is limited by the number of
// rungs, and on the highest one the retry policy decides.

import { UNPROVEN_MOST } from './bounds.ts';
import { note } from './event-log.ts';
import type { FailureKind } from './failure-kind.ts';
import { accountsOf, laneWith, type Account, type Climb, type Lane } from './lanes.ts';
import type { Outcome } from './outcome.ts';
import { put } from './put-row.ts';
import { baseOf, onRung, type Base } from './row-state.ts';
import type { State } from './state.ts';

/** The rung on which an attempt of the row starts now; undefined without a ladder. */
export const rungNow = (state: State, place: number): number | undefined =>
  laneWith(state, place).climb?.rung;

/** The row with its next attempt. */
export const nextAttempt = (state: State, row: Base): Base => {
  const { rung: _, ...base } = baseOf(row);
  return { ...base, attempt: row.attempt + 1, ...onRung(rungNow(state, row.place)) };
};

/** How many attempts may start on a rung that no run of the lane has passed yet. */
export function unprovenFree({ climb }: Lane, account: Account): number {
  if (climb === undefined || climb.isProven || climb.rungs[climb.rung] !== account)
    return Number.POSITIVE_INFINITY;
  return Math.max(0, UNPROVEN_MOST - account.outstanding);
}

type End = { readonly outcome: Outcome; readonly failure?: FailureKind | undefined };

/** Whether a larger GPU may help. */
const isTooSmall = ({ outcome, failure }: End): boolean =>
  outcome === 'timed-out' || (outcome === 'failed' && (failure === 'out-of-memory' || failure === 'timeout'));

/** Learns from the end of an attempt; returns whether the row climbs. */
export function learn(state: State, row: Base, end: End): boolean {
  const lane = laneWith(state, row.place);
  const { climb } = lane;
  const { rung } = row;
  if (climb === undefined || rung === undefined) return false;
  if (end.outcome === 'succeeded' && rung === climb.rung) climb.isProven = true;
  if (!isTooSmall(end) || rung >= climb.rungs.length - 1) return false;
  if (rung + 1 > climb.rung) {
    raise(state, climb, rung + 1);
    note(state, {
      event: 'climbed',
      note: `${end.outcome === 'timed-out' || end.failure === 'timeout' ? 'time ran out' : 'memory ran out'} on ${climb.rungs[rung]?.gpu}; rows of size class ${climb.size} and larger start on ${climb.rungs[rung + 1]?.gpu}`,
    });
  }
  return true;
}

/** The class and all larger ones start at least on this rung. Classes of unknown size are neither larger nor smaller. */
export function raise(state: State, { size }: Pick<Climb, 'size'>, rung: number): void {
  for (const lane of state.lanes) {
    const { climb } = lane;
    if (climb === undefined || climb.rung >= rung) continue;
    const isMeant = size === 0 || climb.size === 0 ? climb.size === size : climb.size >= size;
    if (!isMeant) continue;
    climb.rung = rung;
    climb.isProven = false;
    liftWaiting(state, lane, rung);
  }
}

/** An attempt that may have a run stays where it was asked for. */
function liftWaiting(state: State, lane: Lane, rung: number): void {
  for (const account of accountsOf(lane))
    for (const row of account.waiting.slice()) if (row.turnedAway === undefined) put(state, { ...row, rung });
}
