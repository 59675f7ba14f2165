// Forecasts the cost and wall time of rows from samples of ended rows. The first rows of a batch also pay
// for a cold start, because the service starts containers for them; a sample without its cold start
// says something about every row.

import { addSums, intervalOf, meanOf, sumOf, sumOver, timesSum, type Interval } from './estimated-sum.ts';
import { atTheSameTime, wallTime, type Capacity, type GpuWork } from './wall-time.ts';

export type ForecastParams = Capacity & {
  readonly samples: readonly RunSample[];
  readonly rows: Readonly<Record<string, number>>;
  /** US dollars per second by GPU. */
  readonly prices: Readonly<Record<string, number>>;
  readonly retries: number;
  /** Warm containers: each saves one row the start of a container. */
  readonly warm?: number;
};

/** Undefined amounts are unknown: the GPU was not measured, or has no price. */
export type Amounts = {
  readonly rows: number;
  readonly runs: number;
  readonly costUsd: Interval | undefined;
  readonly seconds: Interval | undefined;
};

/** The total is undefined if the amount of any GPU is. The `seconds` of a GPU hold if only its rows are sent. */
export type Forecast = Amounts & { readonly byGpu: Readonly<Record<string, Amounts>> };

/** An ended row: a row of an earlier batch, or one of the first rows of the batch itself. */
export type RunSample = {
  readonly gpu: string;
  /** Rows of one batch resemble each other more than rows of two batches. */
  readonly batch: string;
  /** Whether the row was among the first of its batch, for which the service had to start containers. */
  readonly isOpening: boolean;
  /** Paid seconds. */
  readonly runs: readonly { readonly coldStart: number; readonly run: number }[];
  /** Queue time of the last run; absent if its batch sent more runs than the deployment has containers. */
  readonly queueSeconds?: number;
};

/** With fewer samples, the variation between rows is unknown. */
const MIN_SAMPLES = 3;

export function forecast(params: ForecastParams): Forecast {
  const planned = Object.entries(params.rows).filter(([, rows]) => rows > 0);
  const total = sumOf(planned.map(([, rows]) => rows));
  const measured = planned.map(([gpu, rows]) => measure(params, gpu, rows, total));
  const byGpu = measured.map((gpuSamples) => [gpuSamples.gpu, amountsOf(params, [gpuSamples])] as const);
  const [only] = byGpu.length === 1 ? byGpu : [];
  return { ...(only?.[1] ?? amountsOf(params, measured)), byGpu: Object.fromEntries(byGpu) };
}

type Measured = {
  readonly gpu: string;
  readonly rows: number;
  readonly samples: readonly RunSample[];
  /** undefined if the GPU was not measured. */
  readonly work: GpuWork | undefined;
};

function measure(params: ForecastParams, gpu: string, rows: number, allRows: number): Measured {
  const samples = params.samples
    .filter((sample) => sample.gpu === gpu)
    .map((sample) => ({ ...sample, runs: sample.runs.slice(0, params.retries + 1) }));
  if (samples.length < MIN_SAMPLES) return { gpu, rows, samples, work: undefined };
  const cold = Math.max(0, atTheSameTime(params, allRows) - (params.warm ?? 0));
  const opening = Math.min(rows, Math.round((cold * rows) / allRows));
  const coldStart = {
    first: meanOf(samples.filter(({ isOpening }) => isOpening).map(coldStartOf)),
    later: meanOf(samples.filter(({ isOpening }) => !isOpening).map(coldStartOf)),
  };
  const seconds = samples.map(
    (sample) => secondsOf(sample) - (sample.isOpening ? coldStart.first : coldStart.later),
  );
  const starts = opening * coldStart.first + (rows - opening) * coldStart.later;
  const batches = samples.map(({ batch }) => batch);
  const { expected, errors } = sumOver(rows, seconds, batches, params.retries > 0);
  return {
    gpu,
    rows,
    samples,
    work: { rows, opening, coldStart, seconds, sum: { expected: expected + starts, errors } },
  };
}

const coldStartOf = ({ runs }: RunSample): number => sumOf(runs.map(({ coldStart }) => coldStart));
const secondsOf = ({ runs }: RunSample): number => sumOf(runs.map(({ coldStart, run }) => coldStart + run));

function amountsOf(params: ForecastParams, measured: readonly Measured[]): Amounts {
  const samples = measured.flatMap((gpuSamples) => gpuSamples.samples);
  const works = measured.flatMap(({ work }) => work ?? []);
  const isKnown = works.length === measured.length;
  const hasPrices = measured.every(({ gpu }) => params.prices[gpu] !== undefined);
  const costs = measured.flatMap(({ gpu, work }) =>
    work === undefined ? [] : [timesSum(work.sum, params.prices[gpu] ?? 0)],
  );
  return {
    rows: sumOf(measured.map(({ rows }) => rows)),
    runs: sumOf(samples.map(({ runs }) => runs.length)),
    costUsd: isKnown && hasPrices ? intervalOf(addSums(costs)) : undefined,
    seconds: isKnown ? wallTime(works, params, samples) : undefined,
  };
}
