// What single runs of a lane have cost, as a histogram with steps of 10 %: it takes the same space for ten runs and for a million.

/** How many runs cost at most as much as each step. */
export type RunCosts = Readonly<Record<number, number>>;

export const NO_RUN_COSTS: RunCosts = {};

const STEP = Math.log(1.1);
/** Of fewer runs, the most expensive one says little about the next. */
export const RUNS_LEAST = 20;

/** The step of an amount, which is at most as high as the step; a millionth of a cent and less are one step. */
const stepOf = (nano: number): number => Math.ceil(Math.log(Math.max(10, nano)) / STEP);

export const addRunCost = (costs: RunCosts, nano: number): RunCosts => {
  const step = stepOf(nano);
  return { ...costs, [step]: (costs[step] ?? 0) + 1 };
};

/** What 99 of 100 runs have cost at most. */
export const p99Cost = (costs: RunCosts = NO_RUN_COSTS): number | undefined => costQuantile(costs, 0.99);

/** The amount in nano-dollars that this share of the runs did not exceed; undefined if too few runs are known. */
export function costQuantile(costs: RunCosts, share: number): number | undefined {
  const steps = Object.entries(costs)
    .map(([step, runs]) => [Number(step), runs] as const)
    .sort(([a], [b]) => a - b);
  const all = steps.reduce((sum, [, runs]) => sum + runs, 0);
  if (all < RUNS_LEAST) return undefined;
  let known = 0;
  const found = steps.find(([, runs]) => (known += runs) >= share * all);
  return found && Math.ceil(Math.exp(found[0] * STEP));
}
