// The course of the batch: what was outstanding, how fast rows ended, how long runs queued, what it had cost; and a bar for each
// attempt, by GPU, as long as bars can be distinguished.

import { at, make } from './dom.js';
import { count, money, span } from './text.js';
import { barsOf } from './attempt-bars.js';

/** @import { Table } from './table.js' */
/** @typedef {ReturnType<typeof emptyCourse>} Course */
/** @typedef {{ values: Float64Array, name: string, shown: (value: number, bucket: number) => string }} Series */

const BUCKETS = 240;
const BARS_MOST = 2_000;
const HEIGHT = 64;

const zeros = () => new Float64Array(BUCKETS);
const rounded = (/** @type {number} */ value) => count(Math.round(value));

/** @type {(table: Table, open: (row: number) => void) => void} */
export function drawTimes(table, open) {
  const course = courseOf(table);
  const box = at('times');
  if (course === undefined) return box.replaceChildren(make('p.note', 'No run has ended yet.'));
  const { busy, queued, ended, waits, cost, gpus, each } = course;
  const rate = ended.map((one) => (one / each) * 60_000);
  const running = { values: busy, name: 'running', shown: rounded };
  box.replaceChildren(
    panel('Outstanding runs', course, [
      {
        values: queued.map((one, bucket) => one + (busy[bucket] ?? 0)),
        name: 'queued',
        shown: (_, bucket) => rounded(queued[bucket] ?? 0),
      },
      running,
    ]),
    panel('Runs ended a minute', course, [
      { values: smooth(rate), name: 'rate', shown: (value) => count(Math.round(value * 10) / 10) },
    ]),
    panel('Mean queueing time', course, [{ values: smooth(waits), name: 'waits', shown: span }]),
    panel('Cost so far', course, [{ values: cost, name: 'cost', shown: money }]),
    table.attempts.length <= BARS_MOST
      ? barsOf(table, course, open)
      : make(
          'div.gpu-panels.columns',
          [...gpus].map(([gpu, values]) =>
            panel(`Running on ${table.gpus[gpu] || 'no named GPU'}`, course, [{ ...running, values }]),
          ),
        ),
    make(
      'p.axis.between.note',
      [0, 0.25, 0.5, 0.75, 1].map((part) => make('span', timeAt(course, part * BUCKETS))),
    ),
  );
}

/** @type {(from: number, to: number) => { from: number, to: number, each: number, queued: Float64Array, busy: Float64Array, ended: Float64Array, waits: Float64Array, cost: Float64Array, gpus: Map<number, Float64Array> }} */
const emptyCourse = (from, to) => ({
  from,
  to,
  /** milliseconds of a bucket */
  each: (to - from) / BUCKETS,
  queued: zeros(),
  busy: zeros(),
  ended: zeros(),
  waits: zeros(),
  cost: zeros(),
  gpus: new Map(),
});

/** @param {Table} table */
function courseOf({ attempts }) {
  let [from, to] = [Infinity, 0];
  for (const { created, ended } of attempts.timed()) {
    from = Math.min(from, created);
    to = Math.max(to, ended);
  }
  if (to <= from) return undefined;
  const course = emptyCourse(from, to);
  const { queued, busy, ended: ends, waits, cost: costs, gpus } = course;
  const starts = zeros();
  const add = (/** @type {Float64Array} */ values, /** @type {number} */ at_, /** @type {number} */ value) =>
    (values[at_] = (values[at_] ?? 0) + value);
  for (const { created, ended, queue, cost, gpu } of attempts.timed()) {
    const wait = Math.max(0, queue);
    const start = Math.min(ended, created + wait * 1_000);
    if (!gpus.has(gpu)) gpus.set(gpu, zeros());
    for (const [values, since, until] of /** @type {const} */ ([
      [queued, created, start],
      [busy, start, ended],
      [gpus.get(gpu) ?? zeros(), start, ended],
    ]))
      spread(values, course, since, until);
    add(ends, bucketOf(course, ended), 1);
    add(costs, bucketOf(course, ended), cost);
    add(waits, bucketOf(course, created), wait);
    add(starts, bucketOf(course, created), 1);
  }
  course.gpus = new Map([...gpus].sort(([a], [b]) => a - b));
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
    add(costs, bucket, costs[bucket - 1] ?? 0);
    const begun = starts[bucket] ?? 0;
    waits[bucket] = begun > 0 ? (waits[bucket] ?? 0) / begun : (waits[bucket - 1] ?? 0);
  }
  return course;
}

/** @type {(course: Pick<Course, 'from' | 'each'>, time: number) => number} */
const bucketOf = ({ from, each }, time) => clamped((time - from) / each);

/** @param {number} bucket */
const clamped = (bucket) => Math.min(BUCKETS - 1, Math.max(0, Math.floor(bucket)));

/** Adds the share of each bucket that a span of time fills.
 * @type {(values: Float64Array, course: Pick<Course, 'from' | 'each'>, begin: number, end: number) => void}
 */
function spread(values, course, begin, end) {
  const last = bucketOf(course, end);
  for (let bucket = bucketOf(course, begin); bucket <= last; bucket += 1) {
    const start = course.from + bucket * course.each;
    const part = (Math.min(end, start + course.each) - Math.max(begin, start)) / course.each;
    values[bucket] = (values[bucket] ?? 0) + Math.max(0, part);
  }
}

/** @param {Float64Array} values */
const smooth = (values) =>
  values.map((_, nth) => {
    const part = values.subarray(Math.max(0, nth - 4), nth + 5);
    return part.reduce((sum, one) => sum + one, 0) / part.length;
  });

/** @type {(title: string, course: Course, series: Series[]) => HTMLElement} */
function panel(title, course, series) {
  const most = Math.max(1e-9, ...series.flatMap(({ values }) => [...values]));
  const paths = series.flatMap(({ values, name }) => {
    const line = [...values].map((value, bucket) => `${bucket + 0.5} ${heightOf(value / most)}`).join('L');
    const d = `M${line}`;
    return [
      make(`path.${name}`, { d: `${d}L${BUCKETS - 0.5} ${HEIGHT}L0.5 ${HEIGHT}Z`, fill: 'currentColor' }),
      make(`path.${name}`, { d, fill: 'none', stroke: 'currentColor' }),
    ];
  });
  const cross = make('line.cross', { y1: 0, y2: HEIGHT, x1: -1, x2: -1 });
  const viewBox = `0 0 ${BUCKETS} ${HEIGHT}`;
  const svg = make(
    'svg',
    { viewBox, preserveAspectRatio: 'none', role: 'img', 'aria-label': title },
    paths,
    cross,
  );
  const [first] = series;
  const peak = series.length > 1 ? rounded(most) : first?.shown(most, first.values.indexOf(most));
  const value = make('span.note', `max ${peak}`);
  const rest = value.textContent;
  const show = (/** @type {number} */ x, /** @type {string} */ text) => {
    for (const end of ['x1', 'x2']) cross.setAttribute(end, String(x));
    value.textContent = text;
  };
  svg.onpointermove = ({ clientX }) => {
    const { left, width } = svg.getBoundingClientRect();
    const bucket = clamped(((clientX - left) / width) * BUCKETS);
    const texts = series.map(
      ({ values, name, shown }) =>
        `${series.length > 1 ? `${name} ` : ''}${shown(values[bucket] ?? 0, bucket)}`,
    );
    show(bucket + 0.5, `${timeAt(course, bucket + 0.5)}  ·  ${texts.toReversed().join(', ')}`);
  };
  svg.onpointerleave = () => show(-1, rest);
  return make('figure.panel', make('figcaption.between', make('b', title), value), svg);
}

/** @param {number} share */
const heightOf = (share) => (HEIGHT - 1 - share * (HEIGHT - 4)).toFixed(2);

/** @type {(course: Course, bucket: number) => string} */
const timeAt = ({ from, each }, bucket) => new Date(from + bucket * each).toLocaleTimeString();
