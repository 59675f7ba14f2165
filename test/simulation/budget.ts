// The bills of the simulated service, and whether a batch keeps its limit of the cost.

import { NO_TALLY, tallyOutcome, tallyUse } from '../../src/batch/accounting/tally.ts';
import type { RunCost } from '../../src/batch/events.ts';
import { attemptCost, budgetLeft, reservedNano, spentNano } from '../../src/batch/sending-limits/budget.ts';
import type { LaneSpec } from '../../src/batch/params.ts';
import type { State } from '../../src/batch/state/state.ts';
import type { SimExecution } from './execution.ts';
import { gpuOf } from './ladder.ts';
import type { SimRun } from './service.ts';
import type { SimPart, SimRecord } from './store.ts';

export type Budget = {
  readonly maxCostNano: number;
  /** The highest cost of one run by GPU; without lanes, the GPU has no name. */
  readonly attemptCostNano: Readonly<Record<string, number>>;
  readonly lanes?: readonly LaneSpec[];
};

/** A run that takes this long, or longer, costs as much as was reserved for it. */
const MAX_BILLED_MS = 60_000;
const COST_NANO = 60_000_000;

/** A third of the worlds has a limit if not all do, half of these two lanes with different prices. */
export function budgetOf(draw: () => number, rows: number, always = false): Partial<Budget> {
  if (draw() < 0.65 && !always) return {};
  const costs = { '': COST_NANO, A10G: COST_NANO, H100: 3 * COST_NANO };
  const cheap = 1 + Math.floor(draw() * (rows - 1));
  const lanes = [
    { gpu: 'H100', places: rows - cheap },
    { gpu: 'A10G', places: cheap },
  ];
  const share = 0.5 + draw() * 8 * Math.max(1, rows / 40);
  return {
    maxCostNano: Math.round(share * COST_NANO),
    attemptCostNano: costs,
    ...(draw() < 0.5 ? { lanes } : {}),
  };
}

/** The same state if the batch reserved the highest cost of each attempt. */
const inFull = (state: State): State =>
  state.params.reserve === undefined ? state : { ...state, params: paramsInFull(state) };

function paramsInFull({ params }: State): State['params'] {
  if (params.reserve === undefined) return params;
  const { reserve: _, ...unreserved } = params;
  return unreserved;
}

/** The cost of a run until now. */
function billedNano({ state, world }: SimExecution, run: SimRun): number {
  const lasted = Math.min(world.now, run.endsAt) - run.createdAt;
  const most = attemptCost(paramsInFull(state), { gpu: gpuOf(state, run) });
  return Math.round(most * Math.min(1, lasted / MAX_BILLED_MS));
}

/** A run that has not ended, or whose record says too little, has no known cost. */
export function costOf(
  batch: SimExecution,
  records: readonly SimRecord[],
): Pick<SimPart, 'tally' | 'unpriced' | 'unpricedRungs' | 'costs'> {
  const { world, service, state } = batch;
  const isCounted = state.params.attemptCostNano !== undefined;
  const unpriced: number[] = [];
  const unpricedRungs: number[] = [];
  let tally = NO_TALLY;
  const costs: RunCost[] = [];
  for (const { end, outcome } of records) {
    tally = tallyOutcome(tally, outcome);
    const isFetch = batch.passes.fetchedAt(end.place) !== undefined;
    for (const attempt of isCounted && !isFetch ? end.attempts : []) {
      const run = service.byId.get(attempt.runId ?? '');
      if (run === undefined || attempt.outcome === 'unknown') continue;
      if (run.endsAt > world.now || world.chance(0.05)) {
        unpriced.push(end.place);
        unpricedRungs.push(attempt.rung ?? -1);
        continue;
      }
      const nano = billedNano(batch, run);
      costs.push(attempt.rung === undefined ? [end.place, nano] : [end.place, nano, attempt.rung]);
      tally = tallyUse(tally, 'GPU', { runs: 1, seconds: 1, costUsd: nano / 1e9 });
    }
  }
  return { tally, unpriced, unpricedRungs, ...(state.params.reserve === undefined ? {} : { costs }) };
}

/**
 * The cost of the first run of each attempt. If the service made more than one, each of them may be the one that the batch
 * knows, so the cheapest counts.
 */
function firstRunsNano(batch: SimExecution): number {
  const least = new Map<string, { nano: number; isWanted: boolean }>();
  for (const run of batch.service.runs) {
    if (run.mark !== batch.mark) continue;
    const token = `${run.place}/${run.attempt}`;
    const { nano, isWanted } = least.get(token) ?? { nano: Number.POSITIVE_INFINITY, isWanted: false };
    least.set(token, {
      nano: Math.min(nano, billedNano(batch, run)),
      isWanted: isWanted || !run.isExtra || mayAdopt(batch, run),
    });
  }
  return [...least.values()].reduce((sum, { nano, isWanted }) => sum + (isWanted ? nano : 0), 0);
}

/** Whether the run was made for a request that was turned away, and its row still waits. */
function mayAdopt({ state }: SimExecution, { place, attempt }: SimRun): boolean {
  const row = state.rows.get(place);
  return row?.phase === 'waiting' && row.attempt === attempt && row.turnedAway !== undefined;
}

const countedNano = (state: State): number => spentNano(state) + reservedNano(state);

const overrunText = (share: number): string => {
  if (share <= 0) return 'an estimate kept';
  return `an estimate overrun by up to ${[5, 10, 20, 50].find((percent) => share * 100 <= percent) ?? 'more than 50'} %`;
};

export class BudgetCheck {
  /** The highest limit that was ever in force. */
  #limitNano = 0;
  /** The highest cost of runs with an estimate: those that were sent while the limit was not reached. */
  #mostNano = 0;

  /** When a group is sent. */
  checkSend({ state, world }: SimExecution): void {
    if (state.params.attemptCostNano === undefined) return;
    const counted = countedNano(inFull(state));
    world.saw('sent within a budget');
    if (countedNano(state) < counted) world.saw('an estimate used');
    this.#mostNano = Math.max(this.#mostNano, counted);
    world.claim(budgetLeft(state) >= 0, () => `a group was sent beyond the budget: ${-budgetLeft(state)}`);
  }

  /** After each workflow task of the batch. */
  check(batch: SimExecution): void {
    const { state, world } = batch;
    if (state.params.attemptCostNano === undefined) return;
    this.#limitNano = Math.max(this.#limitNano, state.params.maxCostNano ?? Number.POSITIVE_INFINITY);
    const counted = countedNano(inFull(state));
    if (world.plan.rows > 1_000 && !state.finished) return;
    const billed = firstRunsNano(batch);
    world.claim(billed <= counted, () => `${billed} nano-dollars are billed, ${counted} counted`);
    const isEstimate = state.params.reserve !== undefined;
    const most = isEstimate ? Math.max(this.#mostNano, this.#limitNano) : this.#limitNano;
    world.claim(billed <= most, () => `${billed} are billed, the limit was ${most}`);
    if (isEstimate && state.finished && Number.isFinite(this.#limitNano))
      world.saw(overrunText(billed / this.#limitNano - 1));
  }
}
