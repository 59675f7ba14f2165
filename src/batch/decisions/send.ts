// Decides which rows are sent next: rows that wait for another POST first, then the next places of the lanes.

import type { AttemptRef } from '../attempt.ts';
import { GROUP_ATTEMPTS } from '../bounds.ts';
import { takePlace, unsentIn, type Lane } from '../lanes.ts';
import { firstAllowed, mayReserve } from '../limits/budget.ts';
import { freeIn } from '../limits/gpu-caps.ts';
import { allowance } from '../limits/limits.ts';
import { spendRate } from '../limits/rate-limit.ts';
import { spendStarts } from '../limits/starts-per-minute.ts';
import { probed } from '../pauses.ts';
import { put } from '../put-row.ts';
import type { Waiting } from '../row-state.ts';
import type { State } from '../state.ts';
import { mayTakePlace } from '../state-size.ts';
import { NEVER, type Decision } from './decision.ts';

/** Sends one group of the attempts that are due, as many as the limits allow. */
export const send: Decision = {
  name: 'send',
  dueAt: (state) => Math.max(nextAttemptAt(state), allowance(state).at),
  act: (state) => {
    const attempts = takeAttempts(state, Math.min(GROUP_ATTEMPTS, allowance(state).most));
    spendRate(state, attempts.length);
    spendStarts(state, attempts.length);
    probed(state, 'blocked', 'unreachable');
    const group = state.nextGroup;
    state.nextGroup += 1;
    state.groups.set(group, { attempts, at: state.now, wallAt: state.wallAt });
    return [{ type: 'send', group, attempts }];
  },
};

const nextAttemptAt = (state: State): number =>
  state.lanes.reduce((least, lane) => Math.min(least, attemptInLaneAt(state, lane)), NEVER);

function attemptInLaneAt(state: State, lane: Lane): number {
  if (freeIn(state, lane) === 0) return NEVER;
  return maySendPlace(state, lane) ? 0 : (firstAllowed(state, lane)?.dueAt ?? NEVER);
}

const maySendPlace = (state: State, lane: Lane): boolean =>
  mayTakePlace(state, lane) && mayReserve(state, lane);

function takeAttempts(state: State, most: number): readonly AttemptRef[] {
  const taken: AttemptRef[] = [];
  while (taken.length < most) {
    const attempt = takeWaiting(state) ?? takeUnsent(state);
    if (attempt === undefined) break;
    taken.push(attempt);
  }
  return taken;
}

/** The attempt that has been due for longest, of all lanes that may send. */
function takeWaiting(state: State): AttemptRef | undefined {
  let next: Waiting | undefined;
  for (const lane of state.lanes) {
    const first = firstAllowed(state, lane);
    const isNext = first !== undefined && first.dueAt <= Math.min(state.now, (next?.dueAt ?? NEVER) - 1);
    if (isNext && freeIn(state, lane) > 0) next = first;
  }
  if (next === undefined) return undefined;
  const { dueAt: _, ...row } = next;
  put(state, { ...row, phase: 'sending' });
  return { place: row.place, attempt: row.attempt };
}

/** The next place of the lane that is furthest behind, so that all lanes end at the same time if their caps allow it. */
function takeUnsent(state: State): AttemptRef | undefined {
  let [behind, least] = [-1, NEVER];
  for (const [at, lane] of state.lanes.entries()) {
    if (!maySendPlace(state, lane) || freeIn(state, lane) === 0) continue;
    const share = lane.outstanding / (lane.outstanding + unsentIn(lane));
    if (share < least) [behind, least] = [at, share];
  }
  if (behind < 0) return undefined;
  const place = takePlace(state.lanes, behind);
  put(state, { phase: 'sending', place, attempt: 1, tries: 0, past: [] });
  return { place, attempt: 1 };
}
