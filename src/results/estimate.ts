// Forecasts a batch that has not begun, from earlier batches of its deployment, else from prices.

import { havePrices, knownCost, priceOf } from '../options/facts/prices.ts';
import { forecast, type Amounts, type Forecast } from './forecast/forecast.ts';
import type { Interval } from './forecast/estimated-sum.ts';
import { capacityOf, readCanaryRuns, readPastRuns, type CanaryRuns, type PastRuns } from './past-runs.ts';
import type { BatchFile } from '../store/batch-file.ts';
import type { BatchFolder } from '../store/batch-folders.ts';

/** `gpus`: rows to send by GPU; '' for rows that name none. */
export type PlannedRows = {
  readonly file: BatchFile;
  readonly laidOut: { readonly gpus: Readonly<Record<string, number>> };
};

/** Unknown amounts are null. `usd_per_run_second`: for one second of run time in each row. */
export type ShownAmounts = {
  readonly rows: number;
  readonly runs: number;
  readonly usd_per_run_second: number | null;
  readonly cost_usd: Interval | null;
  readonly seconds: Interval | null;
};

/** `source`: where run times come from. Each interval contains the true value with a probability of 90 %. */
export type Estimate = ShownAmounts & {
  readonly source: 'earlier_batches' | 'canary' | 'prices';
  readonly batches: readonly string[];
  readonly by_gpu: Readonly<Record<string, ShownAmounts>>;
};

export async function estimateOf(out: string, { file, laidOut }: PlannedRows): Promise<Estimate> {
  const { deployment, service } = file;
  const named = Object.keys(laidOut.gpus).filter((gpu) => gpu !== '');
  const past = await readPastRuns(out, {
    deployment: deployment.id,
    base: service.base,
    gpus: deployment.gpu === undefined ? named : [...named, deployment.gpu],
  });
  const rows = rowsByGpu(laidOut.gpus, ownGpuOf(file, past.ownGpu));
  const prices = pricesOf(file, Object.keys(rows));
  const shown = shownOf(
    forecast({ ...conditionsOf(file), samples: past.samples, rows, prices }),
    past,
    prices,
  );
  return typeof deployment.runPrice === 'number' ? atRunPrice(shown, deployment.runPrice) : shown;
}

/** Each row costs the same if none is tried again. `spentUsd`: what other rows of the batch have cost. */
function atRunPrice(estimate: Estimate, runPrice: number, spentUsd = 0): Estimate {
  const priced = <Shown extends ShownAmounts>(shown: Shown, usd = 0): Shown => {
    const cost = rounded(shown.rows * runPrice + usd, 6);
    return { ...shown, cost_usd: { low: cost, expected: cost, high: cost } };
  };
  const gpus = Object.entries(estimate.by_gpu).map(([gpu, shown]) => [gpu, priced(shown)] as const);
  return { ...priced(estimate, spentUsd), by_gpu: Object.fromEntries(gpus) };
}

/** The forecast of a whole batch, its canary included. */
export type CanaryReport = {
  readonly rows: number;
  readonly succeeded: number;
  /** Null if no cost is known. */
  readonly cost_usd: number | null;
  readonly estimate: Estimate;
};

/** Undefined until all rows of the canary are collected, and in a batch without a canary. */
export async function canaryReport(batchFolder: BatchFolder): Promise<CanaryReport | undefined> {
  const runs = await readCanaryRuns(batchFolder);
  if (runs === undefined) return undefined;
  const { rows, succeeded, costUsd, unpriced } = runs;
  const cost = knownCost(rounded(costUsd, 6), unpriced);
  return { rows, succeeded, cost_usd: cost, estimate: estimateFromCanary(batchFolder, runs) };
}

function estimateFromCanary(
  { batch, file }: Pick<BatchFolder, 'batch' | 'file'>,
  { samples, costUsd, warm, rows: canaryRows }: CanaryRuns,
): Estimate {
  const own = ownGpuOf(file, samples[0]?.gpu);
  const rows: Record<string, number> = {};
  for (const { gpu = own, places, canary = 0 } of file.sheet.lanes)
    rows[gpu] = (rows[gpu] ?? 0) + places - canary;
  const prices = pricesOf(file, Object.keys(rows));
  const remaining = forecast({ ...conditionsOf(file), samples, rows, prices, warm });
  const cost = remaining.costUsd && shifted(remaining.costUsd, costUsd);
  const shown = shownOf({ ...remaining, costUsd: cost }, { batches: [batch] }, prices);
  const estimate = { ...shown, source: 'canary' } as const;
  const { runPrice: stated } = file.deployment;
  // A canary that cost nothing, as one that was refused, does not say that runs are free.
  const told = costUsd > 0 ? costUsd / canaryRows : undefined;
  const runPrice = stated === 'told' ? told : stated;
  return runPrice === undefined ? estimate : atRunPrice(estimate, runPrice, costUsd);
}

const shifted = ({ low, expected, high }: Interval, by: number): Interval => ({
  low: low + by,
  expected: expected + by,
  high: high + by,
});

/** A price of 0 counts beside other prices: such a GPU is free. */
const pricesOf = ({ service }: BatchFile, gpus: readonly string[]): Prices =>
  Object.fromEntries(
    gpus.flatMap((gpu) => {
      const price = havePrices(service.prices) ? priceOf(service.prices, gpu) : undefined;
      return price === undefined ? [] : [[gpu, price]];
    }),
  );

/** The GPU of rows that name none. The sheet does not show on which rung of a ladder they end. */
const ownGpuOf = ({ sheet, deployment }: BatchFile, seen: string | undefined): string =>
  sheet.options.ladder?.join('/') ?? deployment.gpu ?? seen ?? UNKNOWN_GPU;

/** The name for rows without a GPU, if neither the service nor an earlier batch shows which one they get. */
const UNKNOWN_GPU = 'default';

function rowsByGpu(gpus: Readonly<Record<string, number>>, own: string): Record<string, number> {
  const rows: Record<string, number> = {};
  for (const [gpu, some] of Object.entries(gpus)) rows[gpu || own] = (rows[gpu || own] ?? 0) + some;
  return rows;
}

const conditionsOf = (file: BatchFile) => ({
  ...capacityOf(file),
  retries: file.retries,
  ...(file.startsPerMinute === undefined ? {} : { startsPerMinute: file.startsPerMinute }),
});

type Prices = Readonly<Record<string, number>>;

function shownOf(
  { byGpu, ...total }: Forecast,
  { batches }: Pick<PastRuns, 'batches'>,
  prices: Prices,
): Estimate {
  const shown = Object.entries(byGpu).map(([gpu, amounts]) => [gpu, oneShown(amounts, prices[gpu])] as const);
  const perSecond = shown.map(([, amounts]) => amounts.usd_per_run_second);
  const isPriced = perSecond.every((usd) => usd !== null);
  return {
    source: total.runs > 0 ? 'earlier_batches' : 'prices',
    batches: total.runs > 0 ? batches : [],
    ...oneShown(total, undefined),
    usd_per_run_second: isPriced
      ? rounded(
          perSecond.reduce((sum, usd) => sum + usd, 0),
          9,
        )
      : null,
    by_gpu: Object.fromEntries(shown),
  };
}

const oneShown = ({ rows, runs, costUsd, seconds }: Amounts, price: number | undefined): ShownAmounts => ({
  rows,
  runs,
  usd_per_run_second: price === undefined ? null : rounded(rows * price, 9),
  cost_usd: costUsd === undefined ? null : roundedInterval(costUsd, 6),
  seconds: seconds === undefined ? null : roundedInterval(seconds, 1),
});

const rounded = (number: number, digits: number): number => Number(number.toFixed(digits));

const roundedInterval = ({ low, expected, high }: Interval, digits: number): Interval => ({
  low: rounded(low, digits),
  expected: rounded(expected, digits),
  high: rounded(high, digits),
});
