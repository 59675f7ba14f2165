// A limit of the cost (--max-cost) that does not suffice: below what one run may cost, so that no run could be sent, or below what all rows
// are forecast to cost, so that the batch would pause.

import { upToCent } from '../options/bounds-and-defaults.ts';
import { nanoOf } from '../options/text/printed-numbers.ts';
import { estimateOf, type PlannedRows } from '../results/estimate.ts';
import { attemptCosts } from '../store/attempt-cost-bound.ts';

export type LowBudget = {
  readonly maxNano: number;
  /** The reservation for a run on the dearest GPU. If it exceeds the limit, no run on this GPU can be sent. */
  readonly runNano: number;
  readonly gpu: string;
  /** The forecast cost of all rows; undefined if it is not known. */
  readonly forecastNano: number | undefined;
  /** A limit that suffices for all rows. */
  readonly enoughNano: number;
};

/** undefined without a limit, and for a limit that suffices as far as is known. */
export async function lowBudget(out: string, planned: PlannedRows): Promise<LowBudget | undefined> {
  const { maxCostNano: maxNano, sheet } = planned.file;
  if (maxNano === undefined) return undefined;
  const costs = attemptCosts(planned.file);
  const { ladder = [] } = sheet.options;
  const runs = sheet.lanes
    .map(({ gpu = ladder[0] ?? planned.file.deployment.gpu ?? '', places }) => ({
      gpu,
      places,
      nano: costs[gpu] ?? 0,
    }))
    .filter(({ places }) => places > 0);
  const dearest = runs.toSorted((a, b) => b.nano - a.nano)[0];
  if (dearest === undefined) return undefined;
  const { cost_usd: cost } = await estimateOf(out, planned);
  const forecastNano = cost === null ? undefined : nanoOf(cost.expected);
  if (maxNano >= dearest.nano && maxNano >= (forecastNano ?? 0)) return undefined;
  // The last run needs its reservation beside what the others have cost.
  const likely = cost === null ? Number.POSITIVE_INFINITY : nanoOf(cost.high) + dearest.nano;
  const most = runs.reduce((sum, run) => sum + run.places * run.nano, 0);
  return {
    maxNano,
    runNano: dearest.nano,
    gpu: dearest.gpu,
    forecastNano,
    enoughNano: upToCent(Math.max(dearest.nano, Math.min(likely, most))),
  };
}
