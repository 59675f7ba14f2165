// The highest cost of one run by GPU, from the prices and the time limit in batch.json, or from the price of a run. --max-cost
// reserves this much for each attempt.

import type { BatchParams } from '../batch/params.ts';
import { GPUS } from '../options/facts/gpu.ts';
import { priceOf } from '../options/facts/prices.ts';
import { isVendor, vendorFacts } from '../options/facts/server-kind.ts';
import { problem, type RunsheetError } from '../errors/error.ts';
import { nanoOf } from '../options/text/printed-numbers.ts';

/**
 * The seconds that a run may be billed beyond its time limit. The service's specification names no bound. The limit
 * starts when a container has taken the run, so this covers the start of the container before that, the 20 s until
 * the service kills a run that exceeds its limit, and the minute for which the container stays warm.
 */
const COLD_START_BOUND_S = 300;

/** The facts in batch.json that decide the cost of an attempt. */
type CostFacts = {
  readonly deployment: {
    readonly gpu?: string;
    readonly runTimeoutSeconds?: number;
    readonly runPrice?: RunPrice;
  };
  readonly deadlines: { readonly runMs?: number };
  readonly service: { readonly api?: 'v1' | 'v2'; readonly prices: Readonly<Record<string, number>> };
  readonly sheet: {
    readonly lanes: readonly { readonly gpu?: string; readonly size?: number }[];
    readonly options?: { readonly ladder?: readonly string[] };
  };
};

/** US dollars of a run; `told`: each run tells its cost at its end. */
type RunPrice = number | 'told';

/** The highest cost of an attempt by GPU, in nano-dollars. A GPU whose price or time limit is not known is missing. */
export function attemptCosts(facts: CostFacts): Readonly<Record<string, number>> {
  const { runPrice } = facts.deployment;
  if (runPrice === 'told') return {};
  if (runPrice !== undefined)
    return Object.fromEntries(['', ...GPUS, ...gpusOf(facts)].map((gpu) => [gpu, nanoOf(runPrice)]));
  const seconds = timeLimit(facts);
  if (seconds === undefined) return {};
  const { prices } = facts.service;
  // A deployment with a GPU of its own may run every row on that GPU.
  const own = facts.deployment.gpu === undefined ? 0 : highestPrice(prices, facts.deployment.gpu);
  const costs = [...new Set([...GPUS, ...gpusOf(facts)])].map((gpu) => {
    const price = Math.max(own, highestPrice(prices, gpu));
    return [gpu, nanoOf(price * (seconds + COLD_START_BOUND_S))] as const;
  });
  return Object.fromEntries(costs.filter(([, cost]) => Number.isSafeInteger(cost)));
}

/** Whether only the end of a run shows its cost: a price that is stated for such a vendor is no bound. */
export const isCostLearned = ({
  deployment: { gpu = '', runPrice },
}: Pick<CostFacts, 'deployment'>): boolean => runPrice === 'told' || vendorFacts(gpu)?.reportsCost === true;

/** The part of a batch's parameters that says what an attempt costs. */
export function costParams(
  facts: CostFacts,
): Pick<BatchParams, 'attemptCostNano' | 'learnsCost' | 'leastCostNano'> {
  const costs = attemptCosts(facts);
  if (!isCostLearned(facts)) return { attemptCostNano: costs };
  const stated = costs[facts.deployment.gpu ?? ''];
  return {
    attemptCostNano: {},
    learnsCost: true,
    ...(stated !== undefined && { leastCostNano: stated }),
  };
}

/** Throws E312 if the cost is limited and the cost of a run has no known bound. */
export function refuseUnbounded(facts: CostFacts, maxCostNano: number | 'none' | undefined): void {
  if (maxCostNano === undefined || maxCostNano === 'none') return;
  if (facts.deployment.runPrice !== undefined) return;
  if (timeLimit(facts) === undefined) throw noTimeLimit(facts);
  const costs = attemptCosts(facts);
  for (const gpu of askedGpus(facts))
    if (gpu === undefined)
      throw problem('E312', {
        what: 'some rows name no GPU, and the service does not say which one the deployment has',
        hint: 'create the batch with --gpu <gpu>',
      });
    else if (!Object.hasOwn(costs, gpu)) throw noPrice(facts, gpu);
}

/** Throws E312 for a new batch whose cost is limited, and whose runs tell their cost at their end only, if no row is tried first. */
export function refuseUntried(
  { deployment, maxCostNano }: Pick<CostFacts, 'deployment'> & { readonly maxCostNano?: number },
  canary: object | undefined,
): void {
  if (maxCostNano === undefined || deployment.runPrice !== 'told' || canary !== undefined) return;
  throw problem('E312', {
    what: 'what a run costs there is known once it has ended',
    hint: 'try one row first: --canary 1; or state the price of a run: --model 0.04/run=router:provider/model',
  });
}

const noTimeLimit = ({ service }: CostFacts): RunsheetError =>
  problem(
    'E312',
    service.api === 'v1'
      ? {
          what: 'V1 names no time limit of the runs, and cannot cancel them',
          hint: 'use the V2 address of the service, or leave --max-cost out',
        }
      : {
          what: 'the service names no time limit of the runs',
          hint: 'create the batch with --run-timeout <time>, such as 30m',
        },
  );

function noPrice({ deployment: { gpu: own }, service: { prices } }: CostFacts, gpu: string): RunsheetError {
  const hasOwnPrice = own === undefined || priceOf(prices, own) !== undefined;
  const unpriced = hasOwnPrice ? gpu : own;
  const hint = isVendor(unpriced)
    ? `state what the vendor asks, such as --model 0.025/run=${unpriced}:… or --model 0.0003/s=${unpriced}:…, or leave --max-cost out`
    : 'choose a deployment and a GPU (--gpu <gpu>) with known prices, or leave --max-cost out';
  return problem('E312', { what: `the price of ${unpriced} is not known`, hint });
}

/**
 * The service ends a run at the deployment's limit. Without one, runsheet cancels a run that makes no progress for
 * this long.
 */
function timeLimit({ deployment, deadlines, service }: CostFacts): number | undefined {
  const { runMs } = deadlines;
  const cancelled = runMs === undefined || service.api === 'v1' ? undefined : runMs / 1000;
  return deployment.runTimeoutSeconds ?? cancelled;
}

const gpusOf = (facts: CostFacts): readonly string[] => askedGpus(facts).filter((name) => name !== undefined);

/** Every GPU on which an attempt may run; undefined: the deployment's own, which is not known. */
const askedGpus = ({ sheet: { lanes, options } }: CostFacts): readonly (string | undefined)[] =>
  lanes.flatMap(({ gpu, size }): readonly (string | undefined)[] =>
    size === undefined ? [gpu] : (options?.ladder ?? []),
  );

/** No bound holds for a GPU whose price is not known. */
const highestPrice = (prices: Readonly<Record<string, number>>, gpu: string): number =>
  priceOf(prices, gpu) ?? Number.POSITIVE_INFINITY;
