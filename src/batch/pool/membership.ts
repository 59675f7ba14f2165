// The batch as a member of a pool. It asks only for slots that it may use within the next seconds: slots kept for
// later would stand idle while other batches lack them.

import { mayPass } from '../canary.ts';
import { unprovenFree } from '../ladder.ts';
import { capOf, slotsAllowed } from '../sending-limits/adaptive-cap.ts';
import { attemptsLeft } from '../sending-limits/budget.ts';
import { startsWithin, throttledStarts } from '../sending-limits/rate-limit.ts';
import { CIRCUIT_OPENS_AFTER } from '../sending-limits/circuit-breaker.ts';
import { type Account, accountsOf, type Lane, nextAccount, unsentIn } from '../state/lanes.ts';
import { mayTakePlace } from '../state/put-row.ts';
import { type State, usedSlots } from '../state/state.ts';
import { isHeld, sendingProbeAt } from '../pausing/pauses.ts';
import { trialLimit } from '../trial.ts';
import { type Membership, newMembership, type Usage } from './messages.ts';

/** How far ahead a batch asks for slots: a report, and the grant that answers it, take less. */
export const POOL_AHEAD_MS = 4_000;

/**
 * Joins the pool of the new parameters, after the batch has left the previous one. Runs continue: those of a batch
 * that joins may exceed the pool until they end, and those of one that leaves are no longer counted.
 */
export function changePool(state: State, before: string | undefined): void {
  leave(state, before);
  state.membership = state.params.pool === undefined ? undefined : newMembership(state.wallAt, state);
}

/** Leaves the pool. The last report is sent even if an earlier one is still on its way. */
export function leave(state: State, pool: string | undefined): void {
  const { membership } = state;
  if (membership === undefined || pool === undefined) return;
  const usage = { ...usageOf(state, membership), number: membership.number + 1, left: true as const };
  state.leaves = [...(state.leaves ?? []), { pool, usage }];
}

/** The slots in use, and slots for rows that may be sent soon, within the batch's limits. */
export function wantedSlots(state: State): number {
  const used = usedSlots(state);
  const needed = [...Map.groupBy(needs(state), ({ gpu }) => gpu)].map(([gpu = '', some]) => {
    const sum = some.reduce((total, { slots }) => total + slots, 0);
    return Math.min(sum, state.params.gpuConcurrency?.[gpu] ?? Number.POSITIVE_INFINITY);
  });
  const neededSlots = needed.reduce((total, slots) => total + slots, 0);
  return Math.max(used, Math.min(slotsAllowed(state), used + mostStarts(state), neededSlots));
}

/** When the batch will want more slots without any event; infinite if it will not. */
export function wantsMoreAt(state: State): number {
  const soon = state.now + POOL_AHEAD_MS;
  const mayStartAt = sendsAgainAt(state);
  if (mayStartAt > soon) return mayStartAt - POOL_AHEAD_MS;
  const dueAt = state.lanes
    .flatMap(accountsOf)
    .map(({ waiting }) => waiting[dueBefore(waiting, soon)]?.dueAt ?? Number.POSITIVE_INFINITY);
  return Math.min(...dueAt) - POOL_AHEAD_MS;
}

/** The end of a delay, or the next probe; infinite while a pause or the trial forbids both. */
const sendsAgainAt = (state: State): number =>
  Math.max(state.holdUntil, trialLimit(state).at, isHeld(state) ? sendingProbeAt(state) : 0);

/** How many attempts the limits of the whole batch allow within the next seconds. */
function mostStarts(state: State): number {
  const { consecutiveFailures, groups } = state;
  if (sendsAgainAt(state) > state.now + POOL_AHEAD_MS) return 0;
  // A paused batch, and one with an open circuit, sends one attempt at a time.
  if (isHeld(state) || consecutiveFailures >= CIRCUIT_OPENS_AFTER) return groups.size === 0 ? 1 : 0;
  return Math.min(startsWithin(state, POOL_AHEAD_MS), throttledStarts(state, POOL_AHEAD_MS));
}

const needs = (state: State): readonly { readonly gpu: string | undefined; readonly slots: number }[] =>
  state.lanes.flatMap((lane) =>
    accountsOf(lane).map((account) => ({ gpu: account.gpu, slots: slotsOn(state, lane, account) })),
  );

function slotsOn(state: State, lane: Lane, account: Account): number {
  const passing = lane.segments.filter((segment) => mayPass(state, segment));
  const unsent =
    account === nextAccount(lane) && mayTakePlace(state, lane) ? unsentIn({ segments: passing }) : 0;
  const due = dueBefore(account.waiting, state.now + POOL_AHEAD_MS);
  const starts = Math.min(due + unsent, attemptsLeft(state, account), unprovenFree(lane, account));
  return Math.max(account.outstanding, Math.min(capOf(state, account), account.outstanding + starts));
}

/** How many of these rows are due by then; they are sorted. */
function dueBefore(waiting: Account['waiting'], at: number): number {
  const later = waiting.findIndex(({ dueAt }) => dueAt > at);
  return later < 0 ? waiting.length : later;
}

/** A report without its number. */
export function usageOf(state: State, { life, epoch, limit }: Membership): Omit<Usage, 'number'> {
  const { weight = 1, urgency = 0, runsEndMs } = state.params;
  return {
    life,
    epoch,
    limit,
    used: usedSlots(state),
    wanted: wantedSlots(state),
    weight,
    urgency,
    ...(runsEndMs === undefined ? {} : { runsEndMs }),
  };
}
