// The course of a batch in buckets of time: what was outstanding, how many runs ended, how long they queued, what it had cost.

import type { Attempt, Table } from './all-rows.ts';

/** Milliseconds; `each`: of a bucket. */
type Times = { from: number; to: number; each: number };
export type Course = Times & {
  queued: Float64Array;
  busy: Float64Array;
  ended: Map<string, Float64Array>;
  waits: Float64Array;
  cost: Float64Array;
  gpus: Map<number, Float64Array>;
};

export const BUCKETS = 240;

const zeros = () => new Float64Array(BUCKETS);

/** How an attempt ended. */
export const outcomeOf = ({ facts }: Table, { outcome }: Attempt): string =>
  facts.outcomes[outcome] ?? 'absent';

const isTimed = ({ created, ended }: Attempt): boolean => created > 0 && ended > 0;

/** undefined if no run has ended. */
export function courseOf(table: Table): Course | undefined {
  const timed = table.attempts.filter(isTimed);
  let [from, to] = [Infinity, 0];
  for (const { created, ended } of timed) {
    from = Math.min(from, created);
    to = Math.max(to, ended);
  }
  if (to <= from) return undefined;
  const times = { from, to, each: (to - from) / BUCKETS };
  const [queued, busy, waits, cost, starts] = [zeros(), zeros(), zeros(), zeros(), zeros()];
  const ended = new Map<string, Float64Array>();
  const gpus = new Map<number, Float64Array>();
  for (const attempt of timed) {
    const { created, ended: end, queue, cost: usd, gpu } = attempt;
    const wait = Math.max(0, queue);
    const start = Math.min(end, created + wait * 1_000);
    spread(queued, times, created, start);
    spread(busy, times, start, end);
    spread(of(gpus, gpu), times, start, end);
    add(of(ended, outcomeOf(table, attempt)), bucketOf(times, end), 1);
    add(cost, bucketOf(times, end), usd);
    add(waits, bucketOf(times, created), wait);
    add(starts, bucketOf(times, created), 1);
  }
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
    add(cost, bucket, cost[bucket - 1] ?? 0);
    const begun = starts[bucket] ?? 0;
    waits[bucket] = begun > 0 ? (waits[bucket] ?? 0) / begun : (waits[bucket - 1] ?? 0);
  }
  const sorted = new Map([...gpus].sort(([a], [b]) => a - b));
  return { ...times, queued, busy, ended, waits, cost, gpus: sorted };
}

function of<Name>(series: Map<Name, Float64Array>, name: Name): Float64Array {
  const values = series.get(name) ?? zeros();
  series.set(name, values);
  return values;
}

const add = (values: Float64Array, at: number, value: number): void => {
  values[at] = (values[at] ?? 0) + value;
};

const bucketOf = ({ from, each }: Times, time: number): number =>
  Math.min(BUCKETS - 1, Math.max(0, Math.floor((time - from) / each)));

/** Adds the share of each bucket that a span of time fills. */
function spread(values: Float64Array, times: Times, begin: number, end: number): void {
  const last = bucketOf(times, end);
  for (let bucket = bucketOf(times, begin); bucket <= last; bucket += 1) {
    const start = times.from + bucket * times.each;
    const part = (Math.min(end, start + times.each) - Math.max(begin, start)) / times.each;
    add(values, bucket, Math.max(0, part));
  }
}

/** `near`: how many buckets before and after count. */
export const smooth = (values: Float64Array, near = 4): Float64Array =>
  values.map((_, nth) => {
    const part = values.subarray(Math.max(0, nth - near), nth + near + 1);
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });

export type Bar = { attempt: Attempt; lane: number; outcome: string };

/** Puts the attempts on a GPU that overlap into lanes. */
export function lanesOf(table: Table, gpu: number): { bars: Bar[]; lanes: number } {
  const free: number[] = [];
  const bars = table.attempts
    .filter((attempt) => attempt.gpu === gpu && isTimed(attempt))
    .sort((a, b) => a.created - b.created)
    .map((attempt) => {
      const freeLane = free.findIndex((until) => until <= attempt.created);
      const lane = freeLane < 0 ? free.length : freeLane;
      free[lane] = attempt.ended;
      return { attempt, lane, outcome: outcomeOf(table, attempt) };
    });
  return { bars, lanes: Math.max(1, free.length) };
}
