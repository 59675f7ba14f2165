// Sums whose terms are known only from samples, and their prediction intervals.

/** A part of the squared error of a sum, and the degrees of freedom of its estimate. */
export type ErrorPart = { readonly variance: number; readonly freedom: number };

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
