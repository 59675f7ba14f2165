/** The value below which this share of the sorted numbers is; 0 without numbers. */
export const quantileOf = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;

export const medianOf = (numbers: readonly number[]): number =>
  quantileOf(
    numbers.toSorted((a, b) => a - b),
    0.5,
  );
