// The forecast of a batch that has not begun, as text and as JSON: from earlier batches of its deployment, else from prices.

import { DEFAULT_PRICES } from '../batch/gpu.ts';
import type { CreatedBatch } from '../create-batch/create-batch.ts';
import { terminalLine } from '../errors/outside-text.ts';
import { forecast, type Amounts, type Forecast } from '../results/forecast/forecast.ts';
import type { Interval } from '../results/forecast/interval.ts';
import type { CanaryRuns } from '../results/canary-runs.ts';
import { capacityOf, readPastRuns, type PastRuns } from '../results/past-runs.ts';
import type { BatchFile } from '../store/batch-file.ts';
import { count, money, plural, span } from './format.ts';

type Planned = Pick<CreatedBatch, 'file'> & { readonly laidOut: NonNullable<CreatedBatch['laidOut']> };

/** Amounts are null if they cannot be known. `usd_per_run_second`: for one second of run time in each row. */
type Shown = {
  readonly rows: number;
  readonly runs: number;
  readonly usd_per_run_second: number | null;
  readonly cost_usd: Interval | null;
  readonly seconds: Interval | null;
};

/** `source`: where run times come from. Each interval contains the true value with a probability of 90 %. */
export type Estimate = Shown & {
  readonly source: 'earlier_batches' | 'canary' | 'prices';
  readonly batches: readonly string[];
  readonly by_gpu: Readonly<Record<string, Shown>>;
};

export async function estimateOf(out: string, { file, laidOut }: Planned): Promise<Estimate> {
  const { deployment, service } = file;
  const named = Object.keys(laidOut.gpus).filter((gpu) => gpu !== '');
  const past = await readPastRuns(out, {
    deployment: deployment.id,
    base: service.base,
    gpus: deployment.gpu === undefined ? named : [...named, deployment.gpu],
  });
  const rows = rowsByGpu(laidOut.gpus, ownGpuOf(file, past.ownGpu));
  const prices = pricesOf(file, Object.keys(rows));
  return shownOf(forecast({ ...conditionsOf(file), samples: past.samples, rows, prices }), past, prices);
}

/** The forecast of a whole batch from its own canary: what the canary cost, and what the other rows will cost. */
export function estimateFromCanary(
  { batch, file }: Pick<CreatedBatch, 'batch' | 'file'>,
  { samples, costUsd, warm }: CanaryRuns,
): Estimate {
  const own = ownGpuOf(file, samples[0]?.gpu);
  const rows: Record<string, number> = {};
  for (const { gpu = own, places, canary = 0 } of file.sheet.lanes)
    rows[gpu] = (rows[gpu] ?? 0) + places - canary;
  const prices = pricesOf(file, Object.keys(rows));
  const others = forecast({ ...conditionsOf(file), samples, rows, prices, warm });
  const cost = others.costUsd && shifted(others.costUsd, costUsd);
  const shown = shownOf({ ...others, costUsd: cost }, { batches: [batch] }, prices);
  return { ...shown, source: 'canary' };
}

const shifted = ({ low, expected, high }: Interval, by: number): Interval => ({
  low: low + by,
  expected: expected + by,
  high: high + by,
});

const pricesOf = ({ service }: BatchFile, gpus: readonly string[]): Prices =>
  Object.fromEntries(
    gpus.flatMap((gpu) => {
      const price = service.prices[gpu] ?? DEFAULT_PRICES[gpu];
      return price === undefined ? [] : [[gpu, price]];
    }),
  );

/** Where rows without a GPU run. The sheet does not show on which rung of a ladder they end. */
const ownGpuOf = ({ sheet, deployment }: BatchFile, seen: string | undefined): string =>
  sheet.options.ladder?.join('/') ?? deployment.gpu ?? seen ?? UNKNOWN_GPU;

/** Rows that name no GPU, if neither the service nor an earlier batch shows which one they get. */
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
  const perSecond = shown.map(([, one]) => one.usd_per_run_second);
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

const oneShown = ({ rows, runs, costUsd, seconds }: Amounts, price: number | undefined): Shown => ({
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

/** The lines that `plan` and `run` print. */
export function forecastLines(estimate: Estimate): readonly string[] {
  const { cost_usd, seconds, source } = estimate;
  if (source === 'prices')
    return [`  cost      no run of this deployment is known here: ${perSecondText(estimate)}`];
  const gpus = Object.entries(estimate.by_gpu).sort(([, a], [, b]) => b.rows - a.rows);
  const isDetailed = gpus.length > 1 || cost_usd === null;
  return [
    `  cost      ${cost_usd === null ? 'unknown in total' : intervalText(cost_usd, money)}`,
    `  time      ${seconds === null ? 'unknown in total' : intervalText(seconds, duration)}`,
    ...(isDetailed ? gpus.map(([gpu, shown]) => `            ${gpuText(gpu, shown)}`) : []),
    `            ${sourceText(estimate)}`,
  ];
}

const duration = (seconds: number): string => span(seconds * 1000);

const intervalText = ({ low, expected, high }: Interval, text: (number: number) => string): string =>
  `about ${text(expected)}, 90 % likely between ${text(low)} and ${text(high)}`;

function gpuText(gpu: string, shown: Shown): string {
  const { rows, runs, cost_usd, seconds } = shown;
  const name = terminalLine(`${gpu} × ${count(rows)}`);
  if (seconds === null) {
    const known = runs === 0 ? 'no run is known' : `only ${plural(runs, 'run')} known`;
    return `${name}: ${known} here, ${perSecondText(shown)}`;
  }
  const cost = cost_usd === null ? perSecondText(shown) : shortText(cost_usd, money);
  return `${name}: ${cost}, alone ${shortText(seconds, duration)}`;
}

function sourceText({ source, runs, batches: [newest = '', ...older] }: Estimate): string {
  if (source === 'canary') return `from the ${plural(runs, 'run')} of the canary, whose cost it includes`;
  const others = older.length === 0 ? '' : ` and ${plural(older.length, 'older batch', 'older batches')}`;
  return `from ${plural(runs, 'run')} in ${terminalLine(newest)}${others}, if these rows are like those`;
}

const shortText = ({ low, expected, high }: Interval, text: (number: number) => string): string =>
  `${text(expected)} (${text(low)} to ${text(high)})`;

const perSecondText = ({ usd_per_run_second: usd }: Shown): string =>
  usd === null ? 'no price is known' : `$${Number(usd.toPrecision(3))} per second of run time`;
