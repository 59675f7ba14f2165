// Forecasts how long a batch takes from its first request to its last end.

import { seededNumber } from '../../batch/seeded-number.ts';
import {
  addSums,
  intervalOf,
  meanOf,
  sumOf,
  timesSum,
  varianceOf,
  type Interval,
  type Sum,
} from './estimated-sum.ts';

export type Capacity = {
  readonly concurrency: number;
  /** Maximum runs that the deployment executes at the same time; absent if unknown. */
  readonly containers?: number;
  readonly startsPerMinute?: number;
};

/** Rows that the deployment executes at the same time. */
export const atTheSameTime = ({ concurrency, containers = concurrency }: Capacity, rows: number): number =>
  Math.max(1, Math.min(concurrency, containers, rows));

/** The work of the rows of a GPU. */
export type GpuWork = {
  readonly rows: number;
  /** Rows that start a container. */
  readonly opening: number;
  /** The mean cold start of such a row, and of a later one. */
  readonly coldStart: { readonly first: number; readonly later: number };
  /** Seconds of each sample minus the mean cold start. */
  readonly seconds: readonly number[];
  readonly sum: Sum;
};

type QueuedSample = {
  readonly runs: readonly unknown[];
  readonly queueSeconds?: number;
};

/** The longest of three bounds: the work of the containers, the slots of the batch including queueing, and the rate of starts. */
export function wallTime(
  works: readonly GpuWork[],
  capacity: Capacity,
  samples: readonly QueuedSample[],
): Interval {
  const work = addSums(works.map(({ sum }) => sum));
  const rows = sumOf(works.map((gpuWork) => gpuWork.rows));
  if (rows === 0) return { low: 0, expected: 0, high: 0 };
  const runs = rows * meanOf(samples.map((sample) => sample.runs.length));
  // Runs queue even if a container is free.
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
const MAX_ROWS = 2_000;

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
  return Array.from({ length: Math.min(total, Math.max(MAX_ROWS, parallel)) }, (_, at) => {
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
