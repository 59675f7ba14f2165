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
