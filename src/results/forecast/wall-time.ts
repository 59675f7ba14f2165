// How long a batch takes from its first request to its last end.

import { addSums, intervalOf, timesSum, type Interval, type Sum, rowsIn, type Kind } from './interval.ts';
import { chance } from '../../batch/retry-policy.ts';

export type Capacity = {
  readonly concurrency: number;
  /** Maximum runs that the deployment executes at the same time; absent if unknown. */
  readonly containers?: number;
  readonly startsPerMinute?: number;
};

export type Waiting = {
  /** How long a run waits for a container although one is free. */
  readonly queueSeconds: number;
  readonly runsPerRow: number;
};

/** Rows that the deployment executes at the same time. */
export const atTheSameTime = ({ concurrency, containers = concurrency }: Capacity, rows: number): number =>
  Math.max(1, Math.min(concurrency, containers, rows));

/** Whichever is longer: the work of the containers, the slots of the batch with the waiting time, or the rate of starts. */
export function wallTime(kinds: readonly Kind[], capacity: Capacity, waiting: Waiting): Interval {
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
