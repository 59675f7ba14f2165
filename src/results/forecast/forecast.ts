// Forecasts the cost and wall time of rows from samples of ended rows. The first rows of a batch also pay
// for a cold start, because the service starts containers for them; a sample without its cold start is
// informative about every row.

import { seededNumber } from '../../batch/seeded-number.ts';

export type ForecastParams = Capacity & {
  readonly samples: readonly RunSample[];
  readonly rows: Readonly<Record<string, number>>;
  /** US dollars per second by GPU. */
  readonly prices: Readonly<Record<string, number>>;
  readonly retries: number;
  /** Warm containers; that many fewer rows start one. */
  readonly warm?: number;
};

/** Undefined amounts are unknown: the GPU was not measured, or has no price. */
export type Amounts = {
  readonly rows: number;
  readonly runs: number;
  readonly costUsd: Interval | undefined;
  readonly seconds: Interval | undefined;
};

/** The total is undefined if the amount of any GPU is. `seconds` of a GPU: if only its rows were sent. */
export type Forecast = Amounts & { readonly byGpu: Readonly<Record<string, Amounts>> };

/** A row that has ended: of an earlier batch, or one of the first rows of the batch itself. */
export type RunSample = {
  readonly gpu: string;
  /** Rows of one batch resemble each other more than rows of two batches. */
  readonly batch: string;
  /** Whether it was among the first rows of its batch, for which the service had to start containers. */
  readonly isOpening: boolean;
  /** Paid seconds. */
  readonly runs: readonly { readonly coldStart: number; readonly run: number }[];
  /** Queue time of the last run; absent if its batch sent more runs than the deployment has containers. */
  readonly queueSeconds?: number;
};

/** With fewer samples, the variation between rows is unknown. */
const SAMPLES_MIN = 3;

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

/** The work of the rows of a GPU. */
type GpuWork = {
  readonly rows: number;
  /** Rows that start a container. */
  readonly opening: number;
  /** The mean cold start of such a row, and of a later one. */
  readonly coldStart: { readonly first: number; readonly later: number };
  /** Seconds of each sample minus the mean cold start. */
  readonly seconds: readonly number[];
  readonly sum: Sum;
};

function measure(params: ForecastParams, gpu: string, rows: number, allRows: number): Measured {
  const samples = params.samples
    .filter((sample) => sample.gpu === gpu)
    .map((sample) => ({ ...sample, runs: sample.runs.slice(0, params.retries + 1) }));
  if (samples.length < SAMPLES_MIN) return { gpu, rows, samples, work: undefined };
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

// How long a batch takes from its first request to its last end.

export type Capacity = {
  readonly concurrency: number;
  /** Maximum runs that the deployment executes at the same time; absent if unknown. */
  readonly containers?: number;
  readonly startsPerMinute?: number;
};

/** Rows that the deployment executes at the same time. */
export const atTheSameTime = ({ concurrency, containers = concurrency }: Capacity, rows: number): number =>
  Math.max(1, Math.min(concurrency, containers, rows));

/** The longest of three bounds: the work of the containers, the slots of the batch including queueing, and the rate of starts. */
function wallTime(works: readonly GpuWork[], capacity: Capacity, samples: readonly RunSample[]): Interval {
  const work = addSums(works.map(({ sum }) => sum));
  const rows = sumOf(works.map((gpuWork) => gpuWork.rows));
  if (rows === 0) return { low: 0, expected: 0, high: 0 };
  const runs = rows * meanOf(samples.map((sample) => sample.runs.length));
  // Queue time despite a free container.
  const queueSeconds = meanOf(samples.flatMap((sample) => sample.queueSeconds ?? []));
  const parallel = atTheSameTime(capacity, rows);
  const slots = Math.min(capacity.concurrency, rows);
  const bulk = Math.max(work.expected / parallel, (work.expected + runs * queueSeconds) / slots);
  if (work.expected === 0) return { low: bulk, expected: bulk, high: bulk };
  const busy = intervalOf(addSums([timesSum(work, bulk / work.expected), idleTime(works, parallel)]));
  const { startsPerMinute = Number.POSITIVE_INFINITY } = capacity;
  const starting = ((runs - 1) / startsPerMinute) * 60;
  const byRate = starting === 0 ? 0 : starting + queueSeconds + work.expected / rows;
  const { low, expected, high } = busy;
  return { low: Math.max(low, byRate), expected: Math.max(expected, byRate), high: Math.max(high, byRate) };
}

const REPETITIONS = 100;
/** The tail of a batch hardly depends on how many rows came before. */
const ROWS_MAX = 2_000;

/**
 * Time beyond work divided by `parallel`, because containers idle while the last runs end. Simulated with
 * random samples, reproducible for equal arguments.
 */
function idleTime(works: readonly GpuWork[], parallel: number): Sum {
  const idle = Array.from({ length: REPETITIONS }, (_, at) => {
    const rows = drawRows(works, parallel, at + 1);
    return lastEnd(rows, parallel) - sumOf(rows) / parallel;
  });
  return { expected: meanOf(idle), errors: [{ variance: varianceOf(idle), freedom: REPETITIONS - 1 }] };
}

function drawRows(works: readonly GpuWork[], parallel: number, seed: number): readonly number[] {
  let drawn = 0;
  const roll = (): number => seededNumber(seed, (drawn += 1));
  const total = sumOf(works.map(({ rows }) => rows));
  const opening = sumOf(works.map((work) => work.opening));
  return Array.from({ length: Math.min(total, Math.max(ROWS_MAX, parallel)) }, (_, at) => {
    let place = roll() * total;
    const work = works.find(({ rows }) => (place -= rows) < 0) ?? works[0];
    if (work === undefined) return 0;
    const { seconds, coldStart } = work;
    const own = seconds[Math.floor(roll() * seconds.length)] ?? 0;
    return Math.max(0, own + (at < opening ? coldStart.first : coldStart.later));
  });
}

/** When the last row ends, if each free container takes the next one. `free` is sorted: when each container is free. */
function lastEnd(rows: readonly number[], parallel: number): number {
  const free = new Float64Array(parallel);
  for (const seconds of rows) {
    const end = (free[0] ?? 0) + seconds;
    let [low, high] = [1, parallel];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((free[middle] ?? 0) < end) low = middle + 1;
      else high = middle;
    }
    free.copyWithin(0, 1, low);
    free[low - 1] = end;
  }
  return free[parallel - 1] ?? 0;
}

// Sums whose terms are known only from samples, and their prediction intervals.

/** The parts of the squared error are independent; `freedom`: degrees of freedom of the estimate. */
type Sum = {
  readonly expected: number;
  readonly errors: readonly { readonly variance: number; readonly freedom: number }[];
};

/** The true value is between `low` and `high` with a probability of 90 %. */
export type Interval = { readonly low: number; readonly expected: number; readonly high: number };

const addSums = (sums: readonly Sum[]): Sum => ({
  expected: sumOf(sums.map(({ expected }) => expected)),
  errors: sums.flatMap(({ errors }) => errors),
});

const timesSum = ({ expected, errors }: Sum, factor: number): Sum => ({
  expected: expected * factor,
  errors: errors.map(({ variance, freedom }) => ({ variance: variance * factor ** 2, freedom })),
});

/** The total for `rows`, estimated from the samples of these batches. */
function sumOver(
  rows: number,
  seconds: readonly number[],
  batches: readonly string[],
  mayRetry: boolean,
): Sum {
  const { length } = seconds;
  const mean = meanOf(seconds);
  const groups = [...Map.groupBy(seconds.keys(), (at) => batches[at]).values()].map((own) =>
    own.map((at) => seconds[at] ?? 0),
  );
  const freedom = length - groups.length;
  // If most batches have only one sample, they show nothing about the difference between batches.
  const isOne = groups.length === 1 || freedom < groups.length;
  const within = isOne
    ? varianceOf(seconds)
    : sumOf(groups.map((own) => varianceOf(own) * (own.length - 1))) / freedom;
  const byChance = within * meanOf(groups.map((own) => 1 / own.length));
  const between = isOne ? 0 : Math.max(0, varianceOf(groups.map(meanOf)) - byChance);
  const share = sumOf(groups.map((own) => (own.length / length) ** 2));
  const errors = [
    // The rows differ from each other, and the mean of the samples differs from the true mean.
    { variance: within * (rows + rows ** 2 / length), freedom: isOne ? length - 1 : freedom },
    // The new batch differs from the earlier ones. One degree of freedom would make the interval of two batches useless.
    { variance: between * rows ** 2 * (1 + share), freedom: Math.max(2, groups.length - 1) },
    // Five rows without a retry do not mean that there are none (Jeffreys's prior).
    {
      variance: mayRetry ? (0.5 * (rows * mean) ** 2) / ((length + 1) * (length + 2)) : 0,
      freedom: length,
    },
  ];
  return { expected: rows * mean, errors };
}

/** Run times are skewed, so the interval is symmetric in the logarithm: it never reaches zero, and extends farther up than down. */
function intervalOf({ expected, errors }: Sum): Interval {
  const variance = sumOf(errors.map((error) => error.variance));
  if (expected <= 0 || variance === 0) return { low: expected, expected, high: expected };
  // Welch and Satterthwaite: the degrees of freedom of several estimates together.
  const freedom = variance ** 2 / sumOf(errors.map((error) => error.variance ** 2 / error.freedom));
  const factor = Math.exp(t95(freedom) * Math.sqrt(Math.log1p(variance / expected ** 2)));
  return { low: expected / factor, expected, high: expected * factor };
}

const Z95 = 1.6449;
/** The 0.95 quantile of Student's t distribution, from that of the normal one (Cornish and Fisher). */
const t95 = (freedom: number): number =>
  Z95 + (Z95 ** 3 + Z95) / (4 * freedom) + (5 * Z95 ** 5 + 16 * Z95 ** 3 + 3 * Z95) / (96 * freedom ** 2);

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

/** The mean; 0 without numbers. */
const meanOf = (numbers: readonly number[]): number => sumOf(numbers) / Math.max(1, numbers.length);

function varianceOf(numbers: readonly number[]): number {
  const mean = meanOf(numbers);
  return sumOf(numbers.map((number) => (number - mean) ** 2)) / Math.max(1, numbers.length - 1);
}
