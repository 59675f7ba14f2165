// The GPU ladder (--ladder T4,A10G,H100). Rows that name no GPU start on a rung, and climb when their run needs more memory or
// time. The batch sees no inputs, so the layout puts rows into size classes, and each class is a lane:
//
//   lane.climb.rung      where attempts of the class start; it rises when a run on it fails for memory or time, and never sinks
//   lane.climb.isProven  whether a run has succeeded there; before that, at most two runs of the class try it
//
// A larger class never starts below the rung that a smaller class needs. Climbing is no retry: it is limited by the number of
// rungs, and on the highest one the retry policy decides.

import type { FailureKind } from '../options/facts/failure-kind.ts';
import { accountsOf, laneWith, type Account, type Climb, type Lane } from './state/lanes.ts';
import type { Outcome } from './outcome.ts';
import { put } from './state/put-row.ts';
import { baseOf, onRung, type Base } from './state/row-state.ts';
import { type State } from './state/state.ts';
import { note } from './events.ts';

export const MAX_UNPROVEN = 2;

/** The rung on which an attempt of the row starts now; undefined without a ladder. */
export const rungNow = (state: State, place: number): number | undefined =>
  laneWith(state, place).climb?.rung;

/** The row with its next attempt. */
export const nextAttempt = (state: State, row: Base): Base => {
  const { rung: _, absences: __, ...base } = baseOf(row);
  return { ...base, attempt: row.attempt + 1, ...onRung(rungNow(state, row.place)) };
};

/** How many attempts may start on a rung that no run of the lane has passed yet. */
export function unprovenFree({ climb }: Lane, account: Account): number {
  if (climb === undefined || climb.isProven || climb.rungs[climb.rung] !== account)
    return Number.POSITIVE_INFINITY;
  return Math.max(0, MAX_UNPROVEN - account.outstanding);
}

type RungEnd = { readonly outcome: Outcome; readonly failure?: FailureKind | undefined };

/** Whether a larger GPU may help. */
const isTooSmall = ({ outcome, failure }: RungEnd): boolean =>
  outcome === 'timed-out' || (outcome === 'failed' && (failure === 'out-of-memory' || failure === 'timeout'));

/** The rung that the end of an attempt on this rung asks for. */
const neededAfter = ({ rungs }: Climb, rung: number, end: RungEnd): number =>
  isTooSmall(end) ? Math.min(rung + 1, rungs.length - 1) : rung;

/** Learns from the end of an attempt; returns whether the row climbs. */
export function learn(state: State, { place, rung }: Base, end: RungEnd): boolean {
  const { climb } = laneWith(state, place);
  if (climb === undefined || rung === undefined) return false;
  const needed = neededAfter(climb, rung, end);
  if (needed > climb.rung) note(state, { event: 'climbed', note: climbText(climb, rung, end) });
  relearn(state, place, rung, end);
  return needed > rung;
}

function climbText({ size, rungs }: Climb, rung: number, end: RungEnd): string {
  const isTime = end.outcome === 'timed-out' || end.failure === 'timeout';
  const rows = size === 0 ? 'rows without a known size' : `rows of size class ${size} and larger`;
  return `${isTime ? 'time' : 'memory'} ran out on ${rungs[rung]?.gpu}; ${rows} start on ${rungs[rung + 1]?.gpu}`;
}

/** The same for an attempt that ended before; `rung`: -1 if the attempt had no rung. */
export function relearn(state: State, place: number, rung: number, end: RungEnd): void {
  const { climb } = laneWith(state, place);
  if (climb === undefined || rung < 0) return;
  raise(state, climb, neededAfter(climb, rung, end));
  if (end.outcome === 'succeeded' && rung === climb.rung) climb.isProven = true;
}

/** Raises the class and all larger ones to at least this rung. Classes of unknown size are neither larger nor smaller. */
function raise(state: State, { size }: Pick<Climb, 'size'>, rung: number): void {
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

/** An attempt that may have a run stays on its rung. */
function liftWaiting(state: State, lane: Lane, rung: number): void {
  for (const account of accountsOf(lane))
    for (const row of account.waiting.slice()) if (row.turnedAway === undefined) put(state, { ...row, rung });
}
