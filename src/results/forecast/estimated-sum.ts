// Sums whose terms are known only from samples, and their prediction intervals.

/** `errors`: the independent parts of the squared error; `freedom`: the degrees of freedom of each estimate. */
export type Sum = {
  readonly expected: number;
  readonly errors: readonly { readonly variance: number; readonly freedom: number }[];
};

/** The true value is between `low` and `high` with a probability of 90 %. */
export type Interval = { readonly low: number; readonly expected: number; readonly high: number };

export const addSums = (sums: readonly Sum[]): Sum => ({
  expected: sumOf(sums.map(({ expected }) => expected)),
  errors: sums.flatMap(({ errors }) => errors),
});

export const timesSum = ({ expected, errors }: Sum, factor: number): Sum => ({
  expected: expected * factor,
  errors: errors.map(({ variance, freedom }) => ({ variance: variance * factor ** 2, freedom })),
});

/** The total for `rows`, estimated from the samples of these batches. */
export function sumOver(
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
  const isOneGroup = groups.length === 1 || freedom < groups.length;
  const within = isOneGroup
    ? varianceOf(seconds)
    : sumOf(groups.map((own) => varianceOf(own) * (own.length - 1))) / freedom;
  const byChance = within * meanOf(groups.map((own) => 1 / own.length));
  const between = isOneGroup ? 0 : Math.max(0, varianceOf(groups.map(meanOf)) - byChance);
  const share = sumOf(groups.map((own) => (own.length / length) ** 2));
  const errors = [
    // The rows differ from each other, and the mean of the samples differs from the true mean.
    { variance: within * (rows + rows ** 2 / length), freedom: isOneGroup ? length - 1 : freedom },
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
export function intervalOf({ expected, errors }: Sum): Interval {
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

export const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

/** The mean; 0 without numbers. */
export const meanOf = (numbers: readonly number[]): number => sumOf(numbers) / Math.max(1, numbers.length);

export function varianceOf(numbers: readonly number[]): number {
  const mean = meanOf(numbers);
  return sumOf(numbers.map((number) => (number - mean) ** 2)) / Math.max(1, numbers.length - 1);
}
