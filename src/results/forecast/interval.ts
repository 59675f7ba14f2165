// Sums whose terms are known only from samples, and their prediction intervals.

/** A part of the squared error of a sum, and the degrees of freedom of its estimate. */
type ErrorPart = { readonly variance: number; readonly freedom: number };

export type Sum = { readonly expected: number; readonly errors: readonly ErrorPart[] };

/** The true value is between `low` and `high` with a probability of 90 %. */
export type Interval = { readonly low: number; readonly expected: number; readonly high: number };

/** The errors of different sums are independent of each other. */
export const addSums = (sums: readonly Sum[]): Sum => ({
  expected: sums.reduce((total, { expected }) => total + expected, 0),
  errors: sums.flatMap(({ errors }) => errors),
});

export const timesSum = ({ expected, errors }: Sum, factor: number): Sum => ({
  expected: expected * factor,
  errors: errors.map(({ variance, freedom }) => ({ variance: variance * factor ** 2, freedom })),
});

const varianceOf = ({ errors }: Pick<Sum, 'errors'>): number =>
  errors.reduce((total, { variance }) => total + variance, 0);

/**
 * Run times are skewed, so the interval is symmetric in the logarithm: it never reaches zero, and extends farther up than
 * down.
 */
export function intervalOf(sum: Sum): Interval {
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
export type Use = {
  readonly batch: string;
  readonly seconds: number;
  readonly isRetried: boolean;
};

export type Kind = {
  readonly rows: number;
  /** Whether they are the first of their batch. */
  readonly isOpening: boolean;
  /** What each sample needed. */
  readonly seconds: readonly number[];
  readonly sum: Sum;
};

export const rowsIn = (kinds: readonly Kind[]): number => kinds.reduce((sum, { rows }) => sum + rows, 0);

/** What some rows will need together. `uses` has at least two entries. */
export function sumOver(rows: number, uses: readonly Use[], mayRetry: boolean): Sum {
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

export const meanOf = (numbers: readonly number[]): number =>
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
