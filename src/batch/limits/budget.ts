// Limits what the batch may spend, if the user set such a limit (--max-cost). Before each POST, the highest cost of a run on its
// GPU is reserved; accounting/reservations.ts says how long. What is spent and reserved together never exceeds the limit when
// a group is sent, so the first run of each attempt cannot break it. All amounts are whole nano-dollars.

import { costQuantile } from '../accounting/run-costs.ts';
import { costSoFar } from '../accounting/tally.ts';
import type { Lane } from '../lanes.ts';
import type { BatchParams } from '../params.ts';
import type { Waiting } from '../row-state.ts';
import type { State } from '../state.ts';

const NANO = 1e9;
const UNBOUNDED = Number.POSITIVE_INFINITY;

type Accounts = Pick<State, 'params' | 'lanes' | 'tally'>;

/** What is reserved for a run of the lane: the highest cost, or with `p99` what 99 of 100 runs have cost, once enough are known. */
export const attemptCost = (
  { attemptCostNano = {}, reserve }: Pick<BatchParams, 'attemptCostNano' | 'reserve'>,
  { gpu = '', costs }: Pick<Lane, 'gpu' | 'costs'>,
): number => {
  const most = attemptCostNano[gpu] ?? UNBOUNDED;
  const usual = reserve === 'p99' && costs !== undefined ? costQuantile(costs, 0.99) : undefined;
  return Math.min(most, usual ?? UNBOUNDED);
};

const sumOf = ({ params, lanes }: Accounts, countIn: (lane: Lane) => number): number =>
  lanes.reduce((sum, lane) => {
    const count = countIn(lane);
    return count === 0 ? sum : sum + count * attemptCost(params, lane);
  }, 0);

/** What the collected runs cost, and every attempt whose cost will never be known, in full. */
export const spentNano = (state: Accounts): number =>
  Math.round(costSoFar(state.tally) * NANO) + sumOf(state, ({ unpriced }) => unpriced);

export const reservedNano = (state: Accounts): number =>
  sumOf(state, ({ held: { inFlight, waiting } }) => inFlight + waiting);

/** The part of {@link reservedNano} that ends without another POST. */
export const inFlightNano = (state: Accounts): number => sumOf(state, ({ held }) => held.inFlight);

/** What may still be reserved; negative if the limit was lowered or a run cost more than expected, infinite without a limit. */
export const budgetLeft = (state: Accounts): number =>
  state.params.maxCostNano === undefined
    ? UNBOUNDED
    : state.params.maxCostNano - spentNano(state) - reservedNano(state);

/** Whether another attempt of the lane fits. */
export const mayReserve = (state: Accounts, lane: Lane): boolean =>
  state.params.maxCostNano === undefined || budgetLeft(state) >= attemptCost(state.params, lane);

/** The row of the lane that is due first and that the budget allows. A POST that is repeated has its reservation. */
export function firstAllowed(state: Accounts, lane: Lane): Waiting | undefined {
  if (mayReserve(state, lane)) return lane.waiting[0];
  return lane.held.resends > 0 && budgetLeft(state) >= 0 ? lane.waiting.find(isResend) : undefined;
}

const isResend = ({ turnedAway }: Waiting): boolean => turnedAway !== undefined;

/** An amount for people: at least cents, at most hundredths of a cent. */
export const usdText = (nano: number): string => {
  const [whole, decimals = ''] = String(Number((nano / NANO).toFixed(4))).split('.');
  return `$${whole}.${decimals.padEnd(2, '0')}`;
};
