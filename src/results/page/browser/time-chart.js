// The course of the batch: what was outstanding, how fast rows ended, how long runs queued, what it had cost; and a bar for each
// attempt, by GPU, as long as bars can be distinguished.

import { at, make, makeSvg } from './dom.js';
import { count, money, span } from './text.js';
import { barsOf } from './attempt-bars.js';

/** @import { Table } from './table.js' */

const BUCKETS = 240;
const BARS_MOST = 2_000;
const HEIGHT = 64;

/**
 * @typedef {object} Course
 * @property {number} from
 * @property {number} to
 * @property {number} each milliseconds of a bucket
 * @property {Float64Array} queued
 * @property {Float64Array} busy
 * @property {Float64Array} ended
 * @property {Float64Array} waits
 * @property {Float64Array} cost
 * @property {Map<number, Float64Array>} gpus
 */

/**
 * @param {Table} table
 * @param {(row: number) => void} open
 */
export function drawTimes(table, open) {
  const course = courseOf(table);
  const box = at('times');
  if (course === undefined) return box.replaceChildren(make('p', 'note', 'No run has ended yet.'));
  const minutes = course.each / 60_000;
  const rate = course.ended.map((one) => one / minutes);
  box.replaceChildren(
    panel('Outstanding runs', course, [
      {
        values: course.queued.map((one, bucket) => one + (course.busy[bucket] ?? 0)),
        name: 'queued',
        shown: (_, bucket) => count(Math.round(course.queued[bucket] ?? 0)),
      },
      { values: course.busy, name: 'running', shown: (value) => count(Math.round(value)) },
    ]),
    panel('Runs ended a minute', course, [
      { values: smooth(rate), name: 'rate', shown: (value) => count(Math.round(value * 10) / 10) },
    ]),
    panel('Mean queueing time', course, [{ values: smooth(course.waits), name: 'waits', shown: span }]),
    panel('Cost so far', course, [{ values: course.cost, name: 'cost', shown: money }]),
    table.attempts.length <= BARS_MOST ? barsOf(table, course, open) : gpuPanels(table, course),
    axis(course),
  );
}

/** @param {Table} table @returns {Course | undefined} */
function courseOf({ attempts }) {
  const [created, ended, queue, cost, gpu] = /** @type {const} */ ([
    'created',
    'ended',
    'queue',
    'cost',
    'gpu',
  ]).map((name) => attempts.field(name));
  let [from, to] = [Infinity, 0];
  for (let one = 0; one < attempts.length; one += 1) {
    if (attempts.row[one] === -1 || !created?.[one] || !ended?.[one]) continue;
    from = Math.min(from, created[one] ?? Infinity);
    to = Math.max(to, ended[one] ?? 0);
  }
  if (to <= from) return undefined;
  const each = (to - from) / BUCKETS;
  const zeros = () => new Float64Array(BUCKETS);
  const course = {
    from,
    to,
    each,
    queued: zeros(),
    busy: zeros(),
    ended: zeros(),
    waits: zeros(),
    cost: zeros(),
    gpus: new Map(),
  };
  const starts = zeros();
  for (let one = 0; one < attempts.length; one += 1) {
    const [begin, end] = [created?.[one] ?? 0, ended?.[one] ?? 0];
    if (attempts.row[one] === -1 || begin === 0 || end === 0) continue;
    const wait = Math.max(0, queue?.[one] ?? 0);
    const start = Math.min(end, begin + wait * 1_000);
    const own = course.gpus.get(gpu?.[one] ?? 0) ?? zeros();
    course.gpus.set(gpu?.[one] ?? 0, own);
    spread(course.queued, course, begin, start);
    spread(course.busy, course, start, end);
    spread(own, course, start, end);
    const [began, over] = [bucketOf(course, begin), bucketOf(course, end)];
    course.ended[over] = (course.ended[over] ?? 0) + 1;
    course.cost[over] = (course.cost[over] ?? 0) + (cost?.[one] ?? 0);
    course.waits[began] = (course.waits[began] ?? 0) + wait;
    starts[began] = (starts[began] ?? 0) + 1;
  }
  for (let bucket = 0, spent = 0; bucket < BUCKETS; bucket += 1) {
    spent += course.cost[bucket] ?? 0;
    course.cost[bucket] = spent;
    const before = course.waits[bucket - 1] ?? 0;
    course.waits[bucket] = starts[bucket] ? (course.waits[bucket] ?? 0) / (starts[bucket] ?? 1) : before;
  }
  return course;
}

/**
 * @param {Pick<Course, 'from' | 'each'>} course
 * @param {number} time
 */
const bucketOf = ({ from, each }, time) =>
  Math.min(BUCKETS - 1, Math.max(0, Math.floor((time - from) / each)));

/** Adds the share of each bucket that a span of time fills.
 * @param {Float64Array} values
 * @param {Pick<Course, 'from' | 'each'>} course
 * @param {number} begin
 * @param {number} end
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
function smooth(values) {
  const reach = 4;
  return values.map((_, at_) => {
    const part = values.subarray(Math.max(0, at_ - reach), at_ + reach + 1);
    return part.reduce((sum, one) => sum + one, 0) / part.length;
  });
}

/** @typedef {{ values: Float64Array, name: string, shown: (value: number, bucket: number) => string }} Series */

/**
 * @param {string} title
 * @param {Course} course
 * @param {Series[]} series
 */
function panel(title, course, series) {
  const most = Math.max(1e-9, ...series.flatMap(({ values }) => [...values]));
  const svg = makeSvg('svg', {
    viewBox: `0 0 ${BUCKETS} ${HEIGHT}`,
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': title,
  });
  for (const { values, name } of series)
    svg.append(
      makeSvg('path', { d: area(values, most), class: `area ${name}` }),
      makeSvg('path', { d: line(values, most), class: `line ${name}` }),
    );
  const cross = makeSvg('line', { y1: 0, y2: HEIGHT, class: 'cross', x1: -1, x2: -1 });
  svg.append(cross);
  const [first] = series;
  const peak = first === undefined ? '' : `max ${first.shown(most, [...first.values].indexOf(most))}`;
  const value = make('span', 'value', series.length > 1 ? `max ${count(Math.round(most))}` : peak);
  const rest = value.textContent;
  const figure = make('figure', 'panel', make('figcaption', '', make('b', '', title), value));
  figure.append(svg);
  svg.addEventListener('pointermove', (event) => {
    const box = svg.getBoundingClientRect();
    const bucket = Math.min(
      BUCKETS - 1,
      Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * BUCKETS)),
    );
    for (const end of ['x1', 'x2']) cross.setAttribute(end, String(bucket + 0.5));
    const texts = series.map(
      ({ values, name, shown }) =>
        `${series.length > 1 ? `${name} ` : ''}${shown(values[bucket] ?? 0, bucket)}`,
    );
    value.textContent = `${timeAt(course, bucket + 0.5)}  ·  ${texts.toReversed().join(', ')}`;
  });
  svg.addEventListener('pointerleave', () => {
    value.textContent = rest;
    for (const end of ['x1', 'x2']) cross.setAttribute(end, '-1');
  });
  return figure;
}

/** @param {Float64Array} values @param {number} most */
const line = (values, most) =>
  `M${[...values].map((value, bucket) => `${bucket + 0.5} ${(HEIGHT - 1 - (value / most) * (HEIGHT - 4)).toFixed(2)}`).join('L')}`;
/** @param {Float64Array} values @param {number} most */
const area = (values, most) => `${line(values, most)}L${BUCKETS - 0.5} ${HEIGHT}L0.5 ${HEIGHT}Z`;

/** @param {Course} course @param {number} bucket */
const timeAt = ({ from, each }, bucket) => new Date(from + bucket * each).toLocaleTimeString();

/** @param {Course} course */
const axis = (course) =>
  make(
    'p',
    'axis',
    ...[0, 0.25, 0.5, 0.75, 1].map((part) => make('span', '', timeAt(course, part * BUCKETS))),
  );

/** What ran on each GPU, where there are too many bars.
 * @param {Table} table
 * @param {Course} course
 */
function gpuPanels(table, course) {
  const box = make('div', 'gpu-panels');
  for (const [gpu, values] of [...course.gpus].sort(([a], [b]) => a - b))
    box.append(
      panel(`Running on ${table.gpus[gpu] || 'no named GPU'}`, course, [
        { values, name: 'running', shown: (value) => count(Math.round(value)) },
      ]),
    );
  return box;
}
