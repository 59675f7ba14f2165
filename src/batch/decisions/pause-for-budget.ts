import { exactMoney } from '../../options/text/printed-numbers.ts';
import { pause } from '../pausing/pauses.ts';
import {
  attemptCost,
  budgetLeft,
  highestCost,
  inFlightNano,
  reservedNano,
  spentNano,
} from '../sending-limits/budget.ts';
import { type Account, accountsOf, type Lane, nextAccount } from '../state/lanes.ts';
import { mayTakePlace } from '../state/put-row.ts';
import type { State } from '../state/state.ts';
import { type Decision, dueIf } from './decision.ts';

/**
 * Pauses the batch when no further run fits into --max-cost and no run in flight can change that. Runs that were sent
 * finish, and their results are collected.
 */
export const pauseForBudget: Decision = {
  dueAt: (state) =>
    dueIf(state.params.maxCostNano !== undefined && !state.pauses.has('budget') && isUsedUp(state)),
  act: (state) => {
    const next = cheapest(state) as NextRun;
    const { gpu } = next;
    const spent = `${exactMoney(spentNano(state))} of ${exactMoney(state.params.maxCostNano as number)} spent`;
    const reserved = reservedNano(state);
    const held =
      reserved === 0 ? '' : `, ${exactMoney(reserved)} reserved for runs whose cost is not known yet`;
    const on = gpu === undefined ? '' : ` on ${gpu}`;
    pause(state, 'budget', `${spent}${held}; the next run${on} ${mostText(state, next)}`);
  },
};

function mostText({ params }: State, { needed, ...account }: NextRun): string {
  const isLearned = params.learnsCost === true && Number.isFinite(highestCost(params, account));
  if (isLearned) return `reserves ${exactMoney(needed)}, the most that one has cost`;
  if (params.learnsCost === true || !Number.isFinite(needed)) return 'has no known cost';
  const isEstimate = params.reserve === 'p99' && account.p99Nano !== undefined;
  return `${isEstimate ? 'reserves an estimate of' : 'may cost up to'} ${exactMoney(needed)}`;
}

/** Whether the next run would not fit even if all runs in flight cost nothing. */
function isUsedUp(state: State): boolean {
  const next = cheapest(state);
  return next !== undefined && next.needed > budgetLeft(state) + inFlightNano(state);
}

type NextRun = Pick<Account, 'gpu' | 'p99Nano'> & { readonly needed: number };

/** The GPU whose next attempt needs the smallest reservation; undefined if nothing is left to send. */
const cheapest = (state: State): NextRun | undefined =>
  state.lanes
    .flatMap((lane) => accountsOf(lane).filter((account) => hasNext(state, lane, account)))
    .map((account) => ({
      ...account,
      needed: account.held.resends > 0 ? 0 : attemptCost(state.params, account),
    }))
    .reduce<NextRun | undefined>(
      (least, next) => (least && least.needed <= next.needed ? least : next),
      undefined,
    );

const hasNext = (state: State, lane: Lane, account: Account): boolean =>
  account.waiting.length > 0 || (account === nextAccount(lane) && mayTakePlace(state, lane));
