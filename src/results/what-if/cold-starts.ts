// Distinguishes cold starts from warm ones by their lengths. The service says how long each run took to start, but not why.

import { medianOf } from './quantile.ts';

export type Starts = {
  /** What each cold start took; empty if none can be distinguished. */
  readonly coldMs: readonly number[];
  /** What a start in a warm machine usually takes. */
  readonly warmMs: number;
  readonly isCold: (startMs: number) => boolean;
};

/** Shorter starts do not differ by more than noise. */
const NOISE_MS = 20;
/** A cold start takes several times as long as a warm one. */
const RATIO_LEAST = 3;

/** Divides the starts at the largest ratio between neighbours. One very long cold start changes nothing then. */
export function startsOf(startMs: readonly number[]): Starts {
  const sorted = startMs.map((ms) => Math.max(NOISE_MS, ms)).sort((a, b) => a - b);
  let [best, limit] = [RATIO_LEAST, Number.POSITIVE_INFINITY];
  for (let at = 1; at < sorted.length; at += 1) {
    const [below = NOISE_MS, above = NOISE_MS] = [sorted[at - 1], sorted[at]];
    if (above / below > best) [best, limit] = [above / below, above];
  }
  const isCold = (ms: number): boolean => Math.max(NOISE_MS, ms) >= limit;
  return { coldMs: startMs.filter(isCold), warmMs: medianOf(startMs.filter((ms) => !isCold(ms))), isCold };
}
