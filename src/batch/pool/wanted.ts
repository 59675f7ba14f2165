// How many slots a batch could use now, and what it reports to its pool.

import { mayPass } from '../canary.ts';
import { capOf, slotsAllowed } from '../limits/adaptive-cap.ts';
import { accountsOf, nextAccount, unsentIn, type Account, type Lane } from '../lanes.ts';
import { sendingProbeAt } from '../pauses.ts';
import { mayTakePlace } from '../state-size.ts';
import { usedSlots, type State } from '../state.ts';
import type { Membership, Usage } from './messages.ts';

/** The slots that it uses, and those for rows that it may send: as many as its limits allow. */
export function wantedSlots(state: State): number {
  const used = usedSlots(state);
  const most = state.pauses.size === 0 ? slotsAllowed(state) : mostWhilePaused(state, used);
  const needed = [...Map.groupBy(needs(state), ({ gpu }) => gpu)].map(([gpu = '', some]) => {
    const sum = some.reduce((total, { slots }) => total + slots, 0);
    return Math.min(sum, state.params.gpuConcurrency?.[gpu] ?? Number.POSITIVE_INFINITY);
  });
  const all = needed.reduce((total, slots) => total + slots, 0);
  return Math.max(used, Math.min(most, all));
}

/** A paused batch sends one attempt at a time, or none. */
const mostWhilePaused = (state: State, used: number): number =>
  Number.isFinite(sendingProbeAt(state)) ? Math.max(used, 1) : used;

type Need = { readonly gpu: string | undefined; readonly slots: number };

const needs = (state: State): readonly Need[] =>
  state.lanes.flatMap((lane) =>
    accountsOf(lane).map((account) => ({ gpu: account.gpu, slots: slotsOn(state, lane, account) })),
  );

function slotsOn(state: State, lane: Lane, account: Account): number {
  const passing = lane.segments.filter((segment) => mayPass(state, segment));
  const unsent =
    account === nextAccount(lane) && mayTakePlace(state, lane) ? unsentIn({ segments: passing }) : 0;
  const wanted = account.outstanding + account.waiting.length + unsent;
  return Math.max(account.outstanding, Math.min(capOf(state, account), wanted));
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
