// Forecasts the cost and the wall time of rows from samples of ended rows. Rows are grouped in kinds: by GPU, and whether they
// are among the first of their batch, for which the service has to start containers. Otherwise the cold starts of a small
// batch would count for every row of a large one.

import { chance } from '../../batch/retry-policy.ts';

export type ForecastParams = Capacity & {
  readonly samples: readonly Sample[];
  readonly rows: Readonly<Record<string, number>>;
  /** US dollars per second by GPU. */
  readonly prices: Readonly<Record<string, number>>;
  readonly retries: number;
  /** Containers that are warm already: so many fewer rows start one. */
  readonly warm?: number;
};

/** What is undefined cannot be known: the GPU was not measured, or has no price. */
export type Amounts = {
  readonly rows: number;
  readonly runs: number;
  readonly costUsd: Interval | undefined;
  readonly seconds: Interval | undefined;
};

/** The total is undefined if one GPU is. `seconds` of a GPU: if only its rows were sent. */
export type Forecast = Amounts & { readonly byGpu: Readonly<Record<string, Amounts>> };

/** Fewer samples say almost nothing about how much rows differ. */
const SAMPLES_MIN = 3;

export function forecast(params: ForecastParams): Forecast {
  const asked = Object.entries(params.rows).filter(([, rows]) => rows > 0);
  const all = asked.reduce((sum, [, rows]) => sum + rows, 0);
  const measured = asked.map(([gpu, rows]) => measure(params, gpu, rows, all));
  const byGpu = measured.map((one) => [one.gpu, amountsOf(params, [one])] as const);
  const [only] = byGpu.length === 1 ? byGpu : [];
  return { ...(only?.[1] ?? amountsOf(params, measured)), byGpu: Object.fromEntries(byGpu) };
}

type Measured = {
  readonly gpu: string;
  readonly rows: number;
  readonly samples: readonly Sample[];
  /** Empty if the GPU was not measured. */
  readonly kinds: readonly Kind[];
};

function measure(params: ForecastParams, gpu: string, rows: number, allRows: number): Measured {
  const samples = params.samples
    .filter((sample) => sample.gpu === gpu)
    .map((sample) => ({ ...sample, runs: sample.runs.slice(0, params.retries + 1) }));
  if (samples.length < SAMPLES_MIN) return { gpu, rows, samples, kinds: [] };
  const mayRetry = params.retries > 0;
  const cold = Math.max(0, atTheSameTime(params, allRows) - (params.warm ?? 0));
  const opening = Math.min(rows, Math.round((cold * rows) / allRows));
  const kinds = [
    kindOf(opening, { isOpening: true, uses: openingUses(samples), mayRetry }),
    kindOf(rows - opening, { isOpening: false, uses: steadyUses(samples), mayRetry }),
  ];
  return { gpu, rows, samples, kinds: kinds.filter((kind) => kind.rows > 0) };
}

type KindParams = Pick<Kind, 'isOpening'> & { readonly uses: readonly Use[]; readonly mayRetry: boolean };

const kindOf = (rows: number, { isOpening, uses, mayRetry }: KindParams): Kind => ({
  rows,
  isOpening,
  seconds: uses.map(({ seconds }) => seconds),
  sum: sumOver(rows, uses, mayRetry),
});

/** With too few samples of the first rows, all samples count, with the cold start that the few had. */
function openingUses(samples: readonly Sample[]): readonly Use[] {
  const own = samples.filter(({ isOpening }) => isOpening);
  if (own.length >= SAMPLES_MIN) return own.map((sample) => useOf(sample));
  const coldStart = own.length === 0 ? undefined : meanOf(own.map(coldStartOf));
  return samples.map((sample) => useOf(sample, coldStart));
}

/** With too few samples from later in a batch, its first rows count without their cold starts: later, containers are warm. */
function steadyUses(samples: readonly Sample[]): readonly Use[] {
  const own = samples.filter(({ isOpening }) => !isOpening);
  if (own.length >= SAMPLES_MIN) return own.map((sample) => useOf(sample));
  return samples.map((sample) => useOf(sample, sample.isOpening ? 0 : undefined));
}

const useOf = (sample: Sample, coldStart = coldStartOf(sample)): Use => ({
  batch: sample.batch,
  seconds: coldStart + sample.runs.reduce((sum, { run }) => sum + run, 0),
  isRetried: sample.runs.length > 1,
});

const coldStartOf = ({ runs }: Sample): number => runs.reduce((sum, { coldStart }) => sum + coldStart, 0);

function amountsOf(params: ForecastParams, measured: readonly Measured[]): Amounts {
  const samples = measured.flatMap((one) => one.samples);
  const isKnown = measured.every(({ kinds }) => kinds.length > 0);
  const hasPrices = measured.every(({ gpu }) => params.prices[gpu] !== undefined);
  const costs = measured.flatMap(({ gpu, kinds }) =>
    kinds.map(({ sum }) => timesSum(sum, params.prices[gpu] ?? 0)),
  );
  const kinds = measured.flatMap((one) => one.kinds);
  return {
    rows: measured.reduce((sum, { rows }) => sum + rows, 0),
    runs: samples.reduce((sum, { runs }) => sum + runs.length, 0),
    costUsd: isKnown && hasPrices ? intervalOf(addSums(costs)) : undefined,
    seconds: isKnown ? wallTime(kinds, params, waitingOf(samples)) : undefined,
  };
}

function waitingOf(samples: readonly Sample[]): Waiting {
  const queued = samples.flatMap(({ queueSeconds }) => queueSeconds ?? []);
  const runs = samples.reduce((sum, sample) => sum + sample.runs.length, 0);
  return {
    queueSeconds: queued.length === 0 ? 0 : meanOf(queued),
    runsPerRow: runs / samples.length,
  };
}

// How long a batch takes from its first request to its last end.

export type Capacity = {
  readonly concurrency: number;
  /** Maximum runs that the deployment executes at the same time; absent if unknown. */
  readonly containers?: number;
  readonly startsPerMinute?: number;
};

type Waiting = {
  /** How long a run waits for a container although one is free. */
  readonly queueSeconds: number;
  readonly runsPerRow: number;
};

/** Rows that the deployment executes at the same time. */
export const atTheSameTime = ({ concurrency, containers = concurrency }: Capacity, rows: number): number =>
  Math.max(1, Math.min(concurrency, containers, rows));

/** Whichever is longer: the work of the containers, the slots of the batch with the waiting time, or the rate of starts. */
function wallTime(kinds: readonly Kind[], capacity: Capacity, waiting: Waiting): Interval {
  const work = addSums(kinds.map(({ sum }) => sum));
  const rows = rowsIn(kinds);
  if (rows === 0) return { low: 0, expected: 0, high: 0 };
  const runs = rows * waiting.runsPerRow;
  const slots = Math.min(capacity.concurrency, rows);
  const parallel = atTheSameTime(capacity, rows);
  const bulk = Math.max(work.expected / parallel, (work.expected + runs * waiting.queueSeconds) / slots);
  if (work.expected === 0) return { low: bulk, expected: bulk, high: bulk };
  const busy = intervalOf(addSums([timesSum(work, bulk / work.expected), idleTime(kinds, parallel)]));
  const { startsPerMinute } = capacity;
  const starting = startsPerMinute === undefined ? 0 : ((runs - 1) / startsPerMinute) * 60;
  const byRate = starting === 0 ? 0 : starting + waiting.queueSeconds + work.expected / rows;
  return {
    low: Math.max(busy.low, byRate),
    expected: Math.max(busy.expected, byRate),
    high: Math.max(busy.high, byRate),
  };
}

// Simulates how containers execute rows: each free container takes the next row. A batch takes longer than its work divided by
// its containers, because containers are idle while the last runs end.
const REPETITIONS = 100;
/** The end of a batch hardly depends on how many rows were before it. */
const ROWS_MAX = 2_000;

/** What a batch takes in addition to its work divided by `parallel`. Equal arguments have equal results. */
function idleTime(kinds: readonly Kind[], parallel: number): Sum {
  const idle = Array.from({ length: REPETITIONS }, (_, at) => idleOnce(kinds, parallel, at + 1));
  const expected = idle.reduce((sum, one) => sum + one, 0) / REPETITIONS;
  const variance = idle.reduce((sum, one) => sum + (one - expected) ** 2, 0) / (REPETITIONS - 1);
  return { expected, errors: variance === 0 ? [] : [{ variance, freedom: REPETITIONS - 1 }] };
}

function idleOnce(kinds: readonly Kind[], parallel: number, seed: number): number {
  let drawn = 0;
  const roll = (): number => chance(seed, (drawn += 1));
  const opening = kinds.filter(({ isOpening }) => isOpening);
  const steady = kinds.filter(({ isOpening }) => !isOpening);
  const most = Math.max(ROWS_MAX, parallel) - rowsIn(opening);
  const rows = [
    ...drawRows(opening, rowsIn(opening), roll),
    ...drawRows(steady, Math.min(rowsIn(steady), most), roll),
  ];
  const work = rows.reduce((sum, seconds) => sum + seconds, 0);
  return lastEnd(rows, parallel) - work / parallel;
}

/** Rows in random order, each as long as a random sample of its kind. */
function drawRows(kinds: readonly Kind[], rows: number, roll: () => number): readonly number[] {
  const all = rowsIn(kinds);
  return Array.from({ length: rows }, () => {
    let place = roll() * all;
    const kind = kinds.find((one) => (place -= one.rows) < 0) ?? kinds[0];
    return kind?.seconds[Math.floor(roll() * kind.seconds.length)] ?? 0;
  });
}

/** When the last row ends. `free` is sorted: when each container is free. */
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

/** A part of the squared error of a sum, and the degrees of freedom of its estimate. */

type ErrorPart = { readonly variance: number; readonly freedom: number };

type Sum = { readonly expected: number; readonly errors: readonly ErrorPart[] };

/** The true value is between `low` and `high` with a probability of 90 %. */
export type Interval = { readonly low: number; readonly expected: number; readonly high: number };

/** The errors of different sums are independent of each other. */
const addSums = (sums: readonly Sum[]): Sum => ({
  expected: sums.reduce((total, { expected }) => total + expected, 0),
  errors: sums.flatMap(({ errors }) => errors),
});

const timesSum = ({ expected, errors }: Sum, factor: number): Sum => ({
  expected: expected * factor,
  errors: errors.map(({ variance, freedom }) => ({ variance: variance * factor ** 2, freedom })),
});

const varianceOf = ({ errors }: Pick<Sum, 'errors'>): number =>
  errors.reduce((total, { variance }) => total + variance, 0);

/**
 * Run times are skewed, so the interval is symmetric in the logarithm: it never reaches zero, and extends farther up than
 * down.
 */
function intervalOf(sum: Sum): Interval {
  const { expected } = sum;
  const variance = varianceOf(sum);
  if (expected <= 0 || variance === 0) return { low: expected, expected, high: expected };
  const factor = Math.exp(t95(freedomOf(sum)) * Math.sqrt(Math.log1p(variance / expected ** 2)));
  return { low: expected / factor, expected, high: expected * factor };
}

/** Welch and Satterthwaite: the degrees of freedom of several estimates together. */
const freedomOf = ({ errors }: Sum): number =>
  varianceOf({ errors }) ** 2 /
  errors.reduce((total, { variance, freedom }) => total + variance ** 2 / freedom, 0);

/** The 0.95 quantile of Student's t distribution by degrees of freedom. */
const QUANTILES: readonly (readonly [freedom: number, quantile: number])[] = [
  [1, 6.3138],
  [2, 2.92],
  [3, 2.3534],
  [4, 2.1318],
  [5, 2.015],
  [6, 1.9432],
  [8, 1.8595],
  [10, 1.8125],
  [15, 1.7531],
  [30, 1.6973],
  [60, 1.6706],
  [Infinity, 1.6449],
];

/** Between two lines of the table, the quantile is almost linear in 1 / freedom. */
export function t95(freedom: number): number {
  const asked = Math.max(1, freedom);
  const next = QUANTILES.findIndex(([known]) => known >= asked);
  const [above, high] = QUANTILES[next] ?? [Infinity, 1.6449];
  const [below, low] = QUANTILES[Math.max(0, next - 1)] ?? [above, high];
  if (above === below) return high;
  const share = (1 / below - 1 / asked) / (1 / below - 1 / above);
  return low + share * (high - low);
}

// What rows of one kind will need together, estimated from samples of this kind.

/** The GPU seconds of one sample with all of its runs. */
type Use = {
  readonly batch: string;
  readonly seconds: number;
  readonly isRetried: boolean;
};

type Kind = {
  readonly rows: number;
  /** Whether they are the first of their batch. */
  readonly isOpening: boolean;
  /** What each sample needed. */
  readonly seconds: readonly number[];
  readonly sum: Sum;
};

const rowsIn = (kinds: readonly Kind[]): number => kinds.reduce((sum, { rows }) => sum + rows, 0);

/** What some rows will need together. `uses` has at least two entries. */
function sumOver(rows: number, uses: readonly Use[], mayRetry: boolean): Sum {
  const mean = meanOf(uses.map(({ seconds }) => seconds));
  const { within, between, meanShare, freedom, batches } = spreadOf(uses, mean);
  const errors: ErrorPart[] = [
    // The rows differ from each other, and the mean of the samples differs from the true mean.
    { variance: within * (rows + rows ** 2 / uses.length), freedom },
    // The new batch differs from the earlier ones. One degree of freedom would make the interval of two batches useless.
    { variance: between * rows ** 2 * (1 + meanShare), freedom: Math.max(2, batches - 1) },
    { variance: mayRetry ? unseenRetries(uses) * (rows * mean) ** 2 : 0, freedom: uses.length },
  ];
  return { expected: rows * mean, errors: errors.filter(({ variance }) => variance > 0) };
}

type Spread = {
  readonly within: number;
  readonly between: number;
  /** The share of the variance between batches that the mean of the samples has. */
  readonly meanShare: number;
  readonly freedom: number;
  readonly batches: number;
};

/** Analysis of variance with random effects: the variance within batches, and that of the means of batches. */
function spreadOf(uses: readonly Use[], mean: number): Spread {
  const batches = [...Map.groupBy(uses, ({ batch }) => batch).values()].map((some) =>
    some.map(({ seconds }) => seconds),
  );
  const rows = uses.length;
  const freedom = rows - batches.length;
  // If most batches have only one sample, they show nothing about the difference between batches.
  if (batches.length === 1 || freedom < batches.length)
    return {
      within:
        squares(
          uses.map(({ seconds }) => seconds),
          mean,
        ) / Math.max(1, rows - 1),
      between: 0,
      meanShare: 0,
      freedom: Math.max(1, rows - 1),
      batches: 1,
    };
  const means = batches.map((some) => ({ rows: some.length, mean: meanOf(some) }));
  const within = batches.reduce((sum, some) => sum + squares(some, meanOf(some)), 0) / freedom;
  const meanShare = means.reduce((sum, one) => sum + (one.rows / rows) ** 2, 0);
  const ofMeans =
    means.reduce((sum, one) => sum + one.rows * (one.mean - mean) ** 2, 0) / (batches.length - 1);
  const typicalRows = (rows * (1 - meanShare)) / (batches.length - 1);
  const between = Math.max(0, (ofMeans - within) / typicalRows);
  return { within, between, meanShare, freedom, batches: batches.length };
}

/**
 * The variance of the retry rate that few samples cannot show: five rows without a retry do not mean that there are none.
 * The estimate with Jeffreys's prior, as far as it exceeds the one from the samples alone, which `within` contains.
 */
function unseenRetries(uses: readonly Use[]): number {
  const rows = uses.length;
  const retried = uses.filter(({ isRetried }) => isRetried).length;
  const seen = retried / rows;
  const likely = (retried + 0.5) / (rows + 1);
  return Math.max(0, (likely * (1 - likely)) / (rows + 2) - (seen * (1 - seen)) / rows);
}

const meanOf = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

const squares = (numbers: readonly number[], mean: number): number =>
  numbers.reduce((sum, number) => sum + (number - mean) ** 2, 0);

/** One run of a row, in seconds that are paid. */
type SampleRun = { readonly coldStart: number; readonly run: number };

/** A row that has ended: of an earlier batch, or one of the first rows of the batch itself. */
export type Sample = {
  readonly gpu: string;
  /** Rows of one batch resemble each other more than rows of two batches. */
  readonly batch: string;
  /** Whether it was among the first rows of its batch, for which the service had to start containers. */
  readonly isOpening: boolean;
  readonly runs: readonly SampleRun[];
  /** How long its last run waited for a container; absent if its batch sent more runs than the deployment has containers. */
  readonly queueSeconds?: number;
};
