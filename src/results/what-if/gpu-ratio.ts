// How long runs take on another GPU, compared with the GPU of the batch: measured in batches of the same deployment, or bounded
// by the prices.

import type { Sample } from '../forecast/sample.ts';
import { intervalOf, type Interval } from '../forecast/interval.ts';

export type GpuRatio = {
  readonly from: string;
  readonly to: string;
  /** Run time on `to` divided by run time on `from`. `expected` is undefined if `to` was never measured. */
  readonly low: number;
  readonly expected: number | undefined;
  readonly high: number;
  /** The runs on `to` that were measured. */
  readonly runs: number;
};

/** Fewer runs say almost nothing. */
const RUNS_MIN = 3;

/** Rows of two batches differ by about so much: the relative standard error of a comparison between batches. */
const BATCHES_DIFFER = 0.03;

/** Without a measurement, a GPU is at most so many times better or worse than its price says. */
const PRICE_MISLEADS = 2;

type Known = {
  readonly samples: readonly Sample[];
  /** Run seconds in the batch itself, by GPU. */
  readonly own: ReadonlyMap<string, readonly number[]>;
  readonly prices: Readonly<Record<string, number>>;
};

/** undefined if nothing bounds it: one of the GPUs has neither runs nor a price. */
export function gpuRatio(from: string, to: string, { samples, own, prices }: Known): GpuRatio | undefined {
  if (from === to) return { from, to, low: 1, expected: 1, high: 1, runs: own.get(to)?.length ?? 0 };
  const mine = { to: own.get(to) ?? [], from: own.get(from) ?? [] };
  const others = [...Map.groupBy(samples, ({ batch }) => batch).values()].map((some) => ({
    to: secondsOn(some, to),
    from: secondsOn(some, from),
  }));
  const both = [mine, ...others].find((one) => one.to.length >= RUNS_MIN && one.from.length >= RUNS_MIN);
  const found = both ?? { to: others.flatMap((one) => one.to), from: mine.from };
  const ratio = ratioOf(found, both === undefined ? BATCHES_DIFFER : 0);
  if (ratio !== undefined) return { from, to, ...ratio, runs: found.to.length };
  const [before, after] = [prices[from], prices[to]];
  if (before === undefined || after === undefined) return undefined;
  const dearer = after / before;
  return {
    from,
    to,
    expected: undefined,
    runs: found.to.length,
    low: Math.min(1, 1 / dearer) / PRICE_MISLEADS,
    high: Math.max(1, 1 / dearer) * PRICE_MISLEADS,
  };
}

const secondsOn = (samples: readonly Sample[], gpu: string): readonly number[] =>
  samples.filter((sample) => sample.gpu === gpu).flatMap(({ runs }) => runs.at(-1)?.run ?? []);

function ratioOf(
  { to, from }: { readonly to: readonly number[]; readonly from: readonly number[] },
  differ: number,
): Interval | undefined {
  if (to.length < RUNS_MIN || from.length < RUNS_MIN) return undefined;
  const [above, below] = [meanOf(to), meanOf(from)];
  if (above.mean <= 0 || below.mean <= 0) return undefined;
  const expected = above.mean / below.mean;
  const relative = above.error ** 2 + below.error ** 2 + differ ** 2;
  return intervalOf({
    expected,
    errors: [{ variance: relative * expected ** 2, freedom: Math.min(to.length, from.length) - 1 }],
  });
}

/** The mean, and its relative standard error. */
function meanOf(numbers: readonly number[]): { readonly mean: number; readonly error: number } {
  const mean = numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
  const variance = numbers.reduce((sum, number) => sum + (number - mean) ** 2, 0) / (numbers.length - 1);
  return { mean, error: Math.sqrt(variance / numbers.length) / mean };
}
