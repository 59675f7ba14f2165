// Limits what the batch may spend, if the user set such a limit (--max-cost). Before each POST, the highest cost of a
// run on its GPU is reserved; accounting/reserved-attempts.ts says for how long. When a group is sent, spent and
// reserved amounts together never exceed the limit, so the first run of each attempt cannot break it. With --reserve
// p99 the reservation is an estimate, which a run may exceed (accounting/cost-histogram.ts). Where runs tell their cost at their
// end only, the first run reserves everything that is left, and later ones the most that one has cost so far.
// decisions/pause-for-budget.ts pauses the batch at the limit. All amounts are whole nano-dollars.

import { costSoFar } from '../accounting/tally.ts';
import { accountsOf, nextAccount, unsentIn, type Account } from '../state/lanes.ts';
import type { BatchParams } from '../params.ts';
import type { WaitingRow } from '../state/row-state.ts';
import type { State } from '../state/state.ts';
import { nanoOf } from '../../options/text/printed-numbers.ts';

const UNBOUNDED = Number.POSITIVE_INFINITY;

type Accounts = Pick<State, 'params' | 'lanes' | 'tally'>;

type CostParams = Pick<BatchParams, 'attemptCostNano' | 'reserve' | 'learnsCost' | 'maxCostNano'>;

/**
 * The reservation for a run on the GPU: the highest cost, or with `p99` the cost that 99 of 100 runs did not exceed,
 * once known. The whole limit if only the end of a run shows its cost, and none has ended.
 */
export function attemptCost(params: CostParams, account: Pick<Account, 'gpu' | 'p99Nano'>): number {
  const most = highestCost(params, account);
  if (params.learnsCost && most === UNBOUNDED) return params.maxCostNano ?? UNBOUNDED;
  return params.reserve === 'p99' ? Math.min(most, account.p99Nano ?? UNBOUNDED) : most;
}

/** The highest cost of a run on the GPU; infinite if no bound is known. */
export const highestCost = (
  { attemptCostNano = {} }: Pick<BatchParams, 'attemptCostNano'>,
  { gpu = '' }: Pick<Account, 'gpu'>,
): number => attemptCostNano[gpu] ?? UNBOUNDED;

function sumOf(
  { params, lanes }: Accounts,
  countIn: (account: Account) => number,
  costOf: typeof attemptCost = attemptCost,
): number {
  return lanes.flatMap(accountsOf).reduce((sum, account) => {
    const count = countIn(account);
    return count === 0 ? sum : sum + count * costOf(params, account);
  }, 0);
}

/** Collected attempts whose cost will never be known. */
export const unpricedIn = ({ lanes }: Accounts): number =>
  lanes.flatMap(accountsOf).reduce((sum, { unpriced }) => sum + unpriced, 0);

/** The cost of all collected runs, plus the highest cost of every attempt whose cost will never be known. */
export const spentNano = (state: Accounts): number =>
  nanoOf(costSoFar(state.tally)) +
  sumOf(state, (account) => (mayGuess(state, account) ? account.unpriced : 0), highestCost);

/** An attempt of unknown cost stays reserved until some run has shown what it may have cost. */
export const reservedNano = (state: Accounts): number =>
  sumOf(state, (account) => {
    const { inFlight, waiting } = account.held;
    return inFlight + waiting + (mayGuess(state, account) ? 0 : account.unpriced);
  });

/** False until the first run has told its cost. */
const mayGuess = ({ params }: Accounts, account: Account): boolean =>
  params.learnsCost !== true || highestCost(params, account) !== UNBOUNDED;

/** The part of {@link reservedNano} that ends without another POST. */
export const inFlightNano = (state: Accounts): number => sumOf(state, ({ held }) => held.inFlight);

/**
 * The highest cost of all rows if none is retried: spent and reserved amounts, and a run for each row that waits for
 * its next one; undefined if the cost of a run has no known bound.
 */
export function neededNano(state: Accounts): number | undefined {
  const openNano = state.lanes.flatMap((lane) =>
    accountsOf(lane).map((account) => {
      const unsent = account === nextAccount(lane) ? unsentIn(lane) : 0;
      const runs = unsent + account.waiting.length - account.held.resends;
      if (runs === 0) return 0;
      return mayGuess(state, account) ? runs * attemptCost(state.params, account) : UNBOUNDED;
    }),
  );
  const needed = openNano.reduce((sum, nano) => sum + nano, spentNano(state) + reservedNano(state));
  return Number.isFinite(needed) ? needed : undefined;
}

/**
 * The amount that may still be reserved; negative if the limit was lowered or a run cost more than expected, infinite
 * without a limit.
 */
export const budgetLeft = (state: Accounts): number =>
  state.params.maxCostNano === undefined
    ? UNBOUNDED
    : state.params.maxCostNano - spentNano(state) - reservedNano(state);

/** Whether another attempt on the GPU fits. */
export const mayReserve = (state: Accounts, account: Account): boolean =>
  state.params.maxCostNano === undefined || budgetLeft(state) >= attemptCost(state.params, account);

/** How many attempts on the GPU may start: those that fit, and POSTs that are repeated; infinite without a limit. */
export function attemptsLeft(state: Accounts, account: Account): number {
  const left = budgetLeft(state);
  if (left === UNBOUNDED) return UNBOUNDED;
  const cost = attemptCost(state.params, account);
  return left < 0 ? 0 : account.held.resends + (cost === 0 ? UNBOUNDED : Math.floor(left / cost));
}

/** The waiting row that is due first and that the budget allows. A repeated POST keeps its reservation. */
export function firstAllowed(state: Accounts, account: Account): WaitingRow | undefined {
  const { waiting, held } = account;
  if (mayReserve(state, account)) return waiting[0];
  return held.resends > 0 && budgetLeft(state) >= 0 ? waiting.find(isResend) : undefined;
}

const isResend = ({ turnedAway }: WaitingRow): boolean => turnedAway !== undefined;
