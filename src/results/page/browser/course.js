// The course of a batch in buckets of time: what was outstanding, how many runs ended, how long they queued, what it had cost.

/** @import { Attempt, Table } from './all-rows.js' */
/** @typedef {{ from: number, to: number, each: number }} Times milliseconds; `each`: of a bucket */
/** @typedef {Times & { queued: Float64Array, busy: Float64Array, ended: Map<string, Float64Array>, waits: Float64Array, cost: Float64Array, gpus: Map<number, Float64Array> }} Course */

export const BUCKETS = 240;

const zeros = () => new Float64Array(BUCKETS);

/** How an attempt ended. @type {(table: Table, attempt: Attempt) => string} */
export const outcomeOf = ({ facts }, { outcome }) => facts.outcomes[outcome] ?? 'absent';

/** @param {Attempt} attempt */
const isTimed = ({ created, ended }) => created > 0 && ended > 0;

/** undefined if no run has ended. @param {Table} table @returns {Course | undefined} */
export function courseOf(table) {
  const timed = table.attempts.filter(isTimed);
  let [from, to] = [Infinity, 0];
  for (const { created, ended } of timed) {
    from = Math.min(from, created);
    to = Math.max(to, ended);
  }
  if (to <= from) return undefined;
  const times = { from, to, each: (to - from) / BUCKETS };
  const [queued, busy, waits, cost, starts] = [zeros(), zeros(), zeros(), zeros(), zeros()];
  /** @type {Map<string, Float64Array>} */
  const ended = new Map();
  /** @type {Map<number, Float64Array>} */
  const gpus = new Map();
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

/** @type {<N>(all: Map<N, Float64Array>, name: N) => Float64Array} */
function of(all, name) {
  const known = all.get(name) ?? zeros();
  all.set(name, known);
  return known;
}

/** @type {(values: Float64Array, at: number, value: number) => void} */
const add = (values, at, value) => {
  values[at] = (values[at] ?? 0) + value;
};

/** @type {(times: Times, time: number) => number} */
const bucketOf = ({ from, each }, time) =>
  Math.min(BUCKETS - 1, Math.max(0, Math.floor((time - from) / each)));

/** Adds the share of each bucket that a span of time fills. @type {(values: Float64Array, times: Times, begin: number, end: number) => void} */
function spread(values, times, begin, end) {
  const last = bucketOf(times, end);
  for (let bucket = bucketOf(times, begin); bucket <= last; bucket += 1) {
    const start = times.from + bucket * times.each;
    const part = (Math.min(end, start + times.each) - Math.max(begin, start)) / times.each;
    add(values, bucket, Math.max(0, part));
  }
}

/** `near`: how many before and after it count. @type {(values: Float64Array, near?: number) => Float64Array} */
export const smooth = (values, near = 4) =>
  values.map((_, nth) => {
    const part = values.subarray(Math.max(0, nth - near), nth + near + 1);
    return part.reduce((sum, one) => sum + one, 0) / part.length;
  });

/** @typedef {{ attempt: Attempt, lane: number, outcome: string }} Bar */

/** Puts the attempts on a GPU that overlap into lanes. @type {(table: Table, gpu: number) => { bars: Bar[], lanes: number }} */
export function lanesOf(table, gpu) {
  /** @type {number[]} */
  const free = [];
  const bars = table.attempts
    .filter((attempt) => attempt.gpu === gpu && isTimed(attempt))
    .sort((a, b) => a.created - b.created)
    .map((attempt) => {
      const known = free.findIndex((until) => until <= attempt.created);
      const lane = known < 0 ? free.length : known;
      free[lane] = attempt.ended;
      return { attempt, lane, outcome: outcomeOf(table, attempt) };
    });
  return { bars, lanes: Math.max(1, free.length) };
}
