// Limits what the batch may spend, if the user set such a limit (--max-cost). Before each POST, the highest cost of a run on its
// GPU is reserved; accounting/reserved-attempts.ts says how long. What is spent and reserved together never exceeds the limit
// when a group is sent, so the first run of each attempt cannot break it. With --reserve p99 an estimate is reserved instead,
// which a run may exceed (accounting/run-costs.ts). decisions/pause.ts pauses the batch at the limit. All amounts are whole nano-dollars.

import { costSoFar } from '../accounting/tally.ts';
import { accountsOf, nextAccount, unsentIn, type Account } from '../state/lanes.ts';
import type { BatchParams } from '../params.ts';
import type { Waiting } from '../state/row-state.ts';
import type { State } from '../state/state.ts';

const NANO = 1e9;
const UNBOUNDED = Number.POSITIVE_INFINITY;

type Accounts = Pick<State, 'params' | 'lanes' | 'tally'>;

/** What is reserved for a run on the GPU: the highest cost, or with `p99` what 99 of 100 runs have cost, once enough are known. */
export function attemptCost(
  params: Pick<BatchParams, 'attemptCostNano' | 'reserve'>,
  account: Pick<Account, 'gpu' | 'p99Nano'>,
): number {
  const most = highestCost(params, account);
  return params.reserve === 'p99' ? Math.min(most, account.p99Nano ?? UNBOUNDED) : most;
}

/** What a run on the GPU costs at most; infinite if that has no known bound. */
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

/** What the collected runs cost, and every attempt whose cost will never be known, in full. */
export const spentNano = (state: Accounts): number =>
  Math.round(costSoFar(state.tally) * NANO) + sumOf(state, ({ unpriced }) => unpriced, highestCost);

export const reservedNano = (state: Accounts): number =>
  sumOf(state, ({ held: { inFlight, waiting } }) => inFlight + waiting);

/** The part of {@link reservedNano} that ends without another POST. */
export const inFlightNano = (state: Accounts): number => sumOf(state, ({ held }) => held.inFlight);

/**
 * What all rows cost at most if none is retried: what is spent and reserved, and a run for each row that waits for its next one;
 * undefined if the cost of a run has no known bound.
 */
export function neededNano(state: Accounts): number | undefined {
  const rest = state.lanes.flatMap((lane) =>
    accountsOf(lane).map((account) => {
      const unsent = account === nextAccount(lane) ? unsentIn(lane) : 0;
      const runs = unsent + account.waiting.length - account.held.resends;
      return runs === 0 ? 0 : runs * attemptCost(state.params, account);
    }),
  );
  const needed = rest.reduce((sum, nano) => sum + nano, spentNano(state) + reservedNano(state));
  return Number.isFinite(needed) ? needed : undefined;
}

/** What may still be reserved; negative if the limit was lowered or a run cost more than expected, infinite without a limit. */
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

/** The waiting row that is due first and that the budget allows. A POST that is repeated has its reservation. */
export function firstAllowed(state: Accounts, account: Account): Waiting | undefined {
  const { waiting, held } = account;
  if (mayReserve(state, account)) return waiting[0];
  return held.resends > 0 && budgetLeft(state) >= 0 ? waiting.find(isResend) : undefined;
}

const isResend = ({ turnedAway }: Waiting): boolean => turnedAway !== undefined;
