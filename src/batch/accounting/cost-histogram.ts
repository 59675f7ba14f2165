// A histogram of the costs of single runs in a lane, in steps of 10 %: ten runs take as much space as a million.

/** How many runs cost at most as much as each step. */
export type RunCosts = Readonly<Record<number, number>>;

export const NO_RUN_COSTS: RunCosts = {};

const STEP = Math.log(1.1);
/** Below this number of runs, the most expensive one says little about the next. */
export const MIN_RUNS = 20;

/** The step that an amount rounds up to; a millionth of a cent and less share one step. */
const stepOf = (nano: number): number => Math.ceil(Math.log(Math.max(10, nano)) / STEP);

export const addRunCost = (costs: RunCosts, nano: number): RunCosts => {
  const step = stepOf(nano);
  return { ...costs, [step]: (costs[step] ?? 0) + 1 };
};

/** The cost that 99 of 100 runs did not exceed. */
export const p99Cost = (costs: RunCosts = NO_RUN_COSTS): number | undefined => costQuantile(costs, 0.99);

/** The amount in nano-dollars that this share of the runs did not exceed; undefined if too few runs are known. */
export function costQuantile(costs: RunCosts, share: number): number | undefined {
  const steps = Object.entries(costs)
    .map(([step, runs]) => [Number(step), runs] as const)
    .sort(([a], [b]) => a - b);
  const total = steps.reduce((sum, [, runs]) => sum + runs, 0);
  if (total < MIN_RUNS) return undefined;
  let counted = 0;
  const reached = steps.find(([, runs]) => (counted += runs) >= share * total);
  return reached && Math.ceil(Math.exp(reached[0] * STEP));
}
