// How long a batch takes from its first request to its last end.

import { addSums, intervalOf, timesSum, type Interval } from './interval.ts';
import { rowsIn, type Kind } from './rows-of-a-kind.ts';
import { idleTime } from './schedule.ts';

export type Capacity = {
  /** Maximum runs that the batch has outstanding. */
  readonly concurrency: number;
  /** Maximum runs that the deployment executes at the same time; absent if unknown. */
  readonly containers?: number;
  readonly startsPerMinute?: number;
};

export type Waiting = {
  /** How long a run waits for a container although one is free. */
  readonly queueSeconds: number;
  /** Runs of one row. */
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
