// What rows of one kind will need together, estimated from samples of this kind.

import type { ErrorPart, Sum } from './interval.ts';

/** The GPU seconds of one sample with all of its runs. */
export type Use = {
  readonly batch: string;
  readonly seconds: number;
  readonly isRetried: boolean;
};

/** Rows of one kind. */
export type Kind = {
  readonly rows: number;
  /** Whether they are the first of their batch. */
  readonly isOpening: boolean;
  /** What each sample needed. */
  readonly seconds: readonly number[];
  /** What all rows will need together. */
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
