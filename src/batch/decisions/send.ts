// Decides which rows are sent next: rows that wait for another POST first, then the next places of the lanes.

import type { SentAttempt } from '../outcome.ts';
import { GROUP_ATTEMPTS, GROUPS_IN_FLIGHT } from '../bounds.ts';
import { rungNow, unprovenFree } from '../ladder.ts';
import {
  accountOn,
  accountsOf,
  laneWith,
  nextAccount,
  outstandingIn,
  takePlace,
  unsentIn,
  type Account,
  type Lane,
} from '../state/lanes.ts';
import { firstAllowed, mayReserve } from '../sending-limits/budget.ts';
import { freeOn } from '../sending-limits/adaptive-cap.ts';
import { spendRate, spendStarts, rateLimit, startsPerMinute } from '../sending-limits/rate-limit.ts';
import { circuitBreaker } from '../sending-limits/circuit-breaker.ts';
import { put, mayTakePlace } from '../state/put-row.ts';
import { onRung, type Base, type WaitingRow } from '../state/row-state.ts';
import { type State, freeSlots, usedSlots } from '../state/state.ts';
import { probed, isHeld, sendingProbeAt } from '../pausing/pauses.ts';
import { NEVER, type Decision } from './decision.ts';
import { type Allowance, FREE, type Limit, NOT_NOW } from '../sending-limits/allowance.ts';
import { wantedSlots } from '../pool/membership.ts';
import { trialLimit } from '../trial.ts';

/** Sends one group of the attempts that are due, as many as the limits allow. */
export const send: Decision = {
  dueAt: (state) => Math.max(nextAttemptAt(state), allowance(state).at),
  act: (state) => {
    const attempts = takeAttempts(state, Math.min(GROUP_ATTEMPTS, allowance(state).most));
    spendRate(state, attempts.length);
    spendStarts(state, attempts.length);
    probed(state, 'blocked', 'unreachable', 'unclear');
    const group = state.nextGroup;
    state.nextGroup += 1;
    state.groups.set(group, { attempts, at: state.now, wallAt: state.wallAt });
    return [{ type: 'send', group, attempts, ...waiting(state) }];
  },
};

/**
 * The results of a group may wait unless the batch decides by them: whether the service accepts again, how fast, or
 * whether a run began before the concurrency changed. Without webhooks, no worker expects ends.
 */
function waiting({ params, pauses, consecutiveFailures, rateLimit: rate }: State): {
  readonly mayWait?: true;
} {
  const isSteady = pauses.size === 0 && consecutiveFailures === 0 && rate.gapMs === 0;
  const mayWait = params.webhooks && params.adaptive === undefined && isSteady;
  return mayWait ? { mayWait } : {};
}

/** When a lane has an attempt that its own limits allow, ignoring limits of the whole batch. */
export const nextAttemptAt = (state: State): number =>
  state.lanes.reduce((least, lane) => Math.min(least, attemptInLaneAt(state, lane)), NEVER);

function attemptInLaneAt(state: State, lane: Lane): number {
  if (maySendPlace(state, lane)) return 0;
  let at = NEVER;
  for (const account of accountsOf(lane))
    if (account.waiting.length > 0 && isFree(state, lane, account))
      at = Math.min(at, firstAllowed(state, account)?.dueAt ?? NEVER);
  return at;
}

function maySendPlace(state: State, lane: Lane): boolean {
  const account = nextAccount(lane);
  return mayTakePlace(state, lane) && mayReserve(state, account) && isFree(state, lane, account);
}

const isFree = (state: State, lane: Lane, account: Account): boolean =>
  freeOn(state, account) > 0 && unprovenFree(lane, account) > 0;

function takeAttempts(state: State, most: number): readonly SentAttempt[] {
  const taken: SentAttempt[] = [];
  while (taken.length < most) {
    const attempt = takeWaiting(state) ?? takeUnsent(state);
    if (attempt === undefined) break;
    taken.push(attempt);
  }
  return taken;
}

/** Takes the attempt that has been due for longest, among all lanes that may send. */
function takeWaiting(state: State): SentAttempt | undefined {
  let next: WaitingRow | undefined;
  for (const lane of state.lanes)
    for (const account of accountsOf(lane)) {
      const first = account.waiting.length === 0 ? undefined : firstAllowed(state, account);
      const isNext = first !== undefined && first.dueAt <= Math.min(state.now, (next?.dueAt ?? NEVER) - 1);
      if (isNext && isFree(state, lane, account)) next = first;
    }
  if (next === undefined) return undefined;
  const { dueAt: _, ...row } = next;
  put(state, { ...row, phase: 'sending' });
  return sentAttempt(state, row);
}

function sentAttempt(state: State, { place, attempt, rung }: Base): SentAttempt {
  const gpu = rung === undefined ? undefined : accountOn(laneWith(state, place), rung).gpu;
  return { place, attempt, ...(gpu === undefined ? {} : { gpu }) };
}

/**
 * Takes the next place of the lane that is furthest behind, so that all lanes end at the same time if their caps
 * allow it.
 */
function takeUnsent(state: State): SentAttempt | undefined {
  let [behind, least] = [-1, NEVER];
  for (const [at, lane] of state.lanes.entries()) {
    if (!maySendPlace(state, lane)) continue;
    const outstanding = outstandingIn(lane);
    const share = outstanding / (outstanding + unsentIn(lane));
    if (share < least) [behind, least] = [at, share];
  }
  if (behind < 0) return undefined;
  const place = takePlace(state.lanes, behind);
  const row = { place, attempt: 1, tries: 0, past: [], ...onRung(rungNow(state, place)) };
  put(state, { ...row, phase: 'sending' });
  return sentAttempt(state, row);
}

/** Limits sending to the free slots. */
export function slots(state: State): Allowance {
  const free = freeSlots(state);
  return free === 0 ? NOT_NOW : { at: 0, most: free };
}

/** A paused batch sends only single probes. */
function pause(state: State): Allowance {
  if (!isHeld(state)) return FREE;
  return state.groups.size === 0 ? { at: sendingProbeAt(state), most: 1 } : NOT_NOW;
}

/** While too many groups are in flight, due attempts wait and join the next group. */
const groupsInFlight = ({ groups }: State): Allowance => (groups.size < GROUPS_IN_FLIGHT ? FREE : NOT_NOW);

/** A batch cannot continue as new while groups are in flight, so it stops sending first. */
const continueAsNew = ({ isStopping }: State): Allowance => (isStopping ? NOT_NOW : FREE);

const LIMITS: readonly Limit[] = [
  continueAsNew,
  slots,
  grant,
  groupsInFlight,
  pause,
  trialLimit,
  circuitBreaker,
  rateLimit,
  startsPerMinute,
];

function allowance(state: State): Allowance {
  let at = 0;
  let most = Number.POSITIVE_INFINITY;
  for (const limit of LIMITS) {
    const allowed = limit(state);
    at = Math.max(at, allowed.at);
    most = Math.min(most, allowed.most);
  }
  // A limit that allows no attempt has no time: an empty group would be sent again and again.
  return { at: most < 1 ? Number.POSITIVE_INFINITY : at, most };
}

export function grant(state: State): Allowance {
  if (state.membership === undefined) return FREE;
  const free = state.membership.limit - usedSlots(state);
  return free > 0 ? { at: 0, most: free } : NOT_NOW;
}

/** Whether the batch could send, but its pool grants it no slot at all. */
export const lacksSlots = (state: State): boolean =>
  state.membership !== undefined && state.membership.limit === 0 && wantedSlots(state) > usedSlots(state);

/** Why the batch has no slots, for display; undefined if it has some, or wants none. */
export function grantReason(state: State): string | undefined {
  const { membership, params } = state;
  if (membership === undefined || !lacksSlots(state)) return undefined;
  if (membership.failure !== undefined || membership.size === 0) return poolFault(state);
  return membership.epoch === 0
    ? `waits for pool ${params.pool} to grant slots`
    : `pool ${params.pool} has no free slot for this batch`;
}

/** The fault of the pool that only a user can correct. */
export function poolFault({ membership, params: { pool } }: State): string {
  if (membership?.failure !== undefined)
    return `pool ${pool} cannot be reached: ${membership.failure.reason}`;
  return membership?.size === 0
    ? `pool ${pool} has no slots: its size is 0`
    : `pool ${pool} does not answer: it may have as many batches as it can have`;
}
