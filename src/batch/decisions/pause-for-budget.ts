// Pauses the batch when no further run fits into --max-cost and no run in flight can change that. Runs that were sent finish,
// and their results are collected.

import { accountsOf, nextAccount, type Account, type Lane } from '../state/lanes.ts';
import { attemptCost, budgetLeft, inFlightNano, reservedNano, spentNano, usdText } from '../limits/budget.ts';
import { pause } from '../pausing/pauses.ts';
import type { State } from '../state/state.ts';
import { mayTakePlace } from '../state/state-size.ts';
import { dueIf, type Decision } from './decision.ts';

export const pauseForBudget: Decision = {
  name: 'pause-for-budget',
  dueAt: (state) =>
    dueIf(state.params.maxCostNano !== undefined && !state.pauses.has('budget') && isUsedUp(state)),
  act: (state) => {
    const { gpu, needed, p99Nano } = cheapest(state) as Next;
    const spent = `${usdText(spentNano(state))} of ${usdText(state.params.maxCostNano as number)} spent`;
    const reserved = reservedNano(state);
    const held = reserved === 0 ? '' : `, ${usdText(reserved)} reserved for runs whose cost is not known yet`;
    const on = gpu === undefined ? '' : ` on ${gpu}`;
    const isEstimate = state.params.reserve === 'p99' && p99Nano !== undefined;
    const most = Number.isFinite(needed)
      ? `${isEstimate ? 'reserves an estimate of' : 'may cost up to'} ${usdText(needed)}`
      : 'has no known cost';
    pause(state, 'budget', `${spent}${held}; the next run${on} ${most}`);
    return [];
  },
};

/** If all runs in flight cost nothing, this much more could be reserved. */
function isUsedUp(state: State): boolean {
  const next = cheapest(state);
  return next !== undefined && next.needed > budgetLeft(state) + inFlightNano(state);
}

type Next = Pick<Account, 'gpu' | 'p99Nano'> & { readonly needed: number };

/** The GPU whose next attempt needs least; undefined if nothing is left to send. */
const cheapest = (state: State): Next | undefined =>
  state.lanes
    .flatMap((lane) => accountsOf(lane).filter((account) => hasNext(state, lane, account)))
    .map((account) => ({
      ...account,
      needed: account.held.resends > 0 ? 0 : attemptCost(state.params, account),
    }))
    .reduce<Next | undefined>(
      (least, next) => (least && least.needed <= next.needed ? least : next),
      undefined,
    );

const hasNext = (state: State, lane: Lane, account: Account): boolean =>
  account.waiting.length > 0 || (account === nextAccount(lane) && mayTakePlace(state, lane));
