// The course of the batch over time, with one crosshair for all charts, and a bar for each attempt as long as bars can be
// distinguished. Times are counted from the first run, without the time in which the batch had ended.

import { html, Plot, useLayoutEffect, useMemo, useRef, useWidth } from './parts.js';
import { Bars, colourOf, TONES, useDark } from './attempt-bars.js';
import { BUCKETS, courseOf, smooth } from './course.js';
import { count, money, rough, span } from './text.js';

/** @import { Table } from './table.js' */
/** @import { Course } from './course.js' */
/** `shown`: if the line is on top of another. @typedef {{ name: string, tone: string, values: Float64Array, isFilled?: boolean, shown?: Float64Array }} Series */

const BARS_MOST = 2_000;
const HEIGHT = 150;
/** Seconds between two marks of the time axis. */
const STEPS = [
  0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400,
];

/** `open`: goes to an attempt of a row. @param {{ table: Table, open: (row: number, attempt: number) => void }} props */
export function Charts({ table, open }) {
  const course = useMemo(() => courseOf(table), [table.version]);
  if (course === undefined) return html`<p class="note">No run has ended yet.</p>`;
  const { busy, queued, ended, waits, cost, gpus, each } = course;
  const rates = [...ended].map(([name, values]) => ({
    name,
    tone: TONES[name] ?? 'soft',
    values: smooth(values.map((one) => (one / each) * 60_000)),
  }));
  const both = queued.map((one, bucket) => one + (busy[bucket] ?? 0));
  const whole = (value) => count(Math.round(value));
  const running = { name: 'running', tone: 'good', values: busy, isFilled: true };
  /** @type {(title: string, text: (value: number) => string, ...series: Series[]) => unknown} */
  const chart = (title, text, ...series) =>
    html`<${Chart} key=${title} ...${{ title, course, text, series }} />`;
  return html`<div class="columns">
    ${chart('Outstanding runs', whole, { name: 'queued', tone: 'queue', values: both, shown: queued, isFilled: true }, running)}
    ${chart('Runs ended a minute', rough, ...rates)}
    ${chart('Mean queueing time', span, { name: 'queued for', tone: 'accent', values: smooth(waits) })}
    ${chart('Cost so far', money, { name: 'cost', tone: 'accent', values: cost, isFilled: true })}
    ${[...gpus].map(([gpu, values]) => {
      const name = table.gpus[gpu] || 'no named GPU';
      if (table.attempts.length > BARS_MOST)
        return chart(`Running on ${name}`, whole, { ...running, values });
      return html`<${Bars} key=${gpu} ...${{ table, course, gpu, name, open }} />`;
    })}
  </div>`;
}

/** @param {{ title: string, course: Course, series: Series[], text: (value: number) => string }} props */
function Chart({ title, course, series, text }) {
  const box = useRef();
  const plot = useRef();
  const width = useWidth(box);
  const isDark = useDark();
  const data = useMemo(() => dataOf(course, series), [course]);
  useLayoutEffect(() => {
    if (width === 0) return undefined;
    plot.current = new Plot(optionsOf({ own: box.current, width, series, text }), data, box.current);
    return () => plot.current.destroy();
  }, [width, isDark, series.length]);
  useLayoutEffect(() => plot.current?.setData(data), [data]);
  const most = Math.max(0, ...series.flatMap(({ values }) => Array.from(values)));
  return html`<figure class="chart">
    <figcaption><b>${title}</b><span class="hidden">, at most ${text(most)}</span></figcaption>
    <div ref=${box}></div>
  </figure>`;
}

/** @type {(course: Course, series: readonly Series[]) => [number[], ...number[][]]} */
const dataOf = ({ each }, series) => [
  Array.from({ length: BUCKETS }, (_, bucket) => ((bucket + 0.5) * each) / 1_000),
  ...series.map(({ values }) => Array.from(values)),
];

/** @type {(given: { own: HTMLElement, width: number, series: readonly Series[], text: (value: number) => string }) => import('uplot').Options} */
function optionsOf({ own, width, series, text }) {
  const [soft, line] = [colourOf(own, 'soft'), colourOf(own, 'line')];
  const axis = {
    stroke: soft,
    grid: { stroke: line, width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  };
  const marks = (write) => (_, all) => all.map((one) => (one === 0 ? '0' : write(one)));
  return {
    width,
    height: HEIGHT,
    cursor: { sync: { key: 'course' }, y: false, drag: { x: false, y: false } },
    scales: { x: { time: false }, y: { range: (_, __, most) => [0, Math.max(most * 1.05, 1e-6)] } },
    axes: [
      { ...axis, size: 26, incrs: STEPS, space: 80, values: marks(axisText) },
      { ...axis, size: 62, space: 34, values: marks(text) },
    ],
    series: [
      { label: 'after', value: (_, value) => (value === null ? '–' : span(value)) },
      ...series.map(({ name, tone, values, shown = values, isFilled }) => ({
        label: name,
        width: 1.5,
        stroke: colourOf(own, tone),
        ...(isFilled && { fill: `color-mix(in srgb, ${colourOf(own, tone)} 22%, transparent)` }),
        points: { show: false },
        value: (_, value, __, at) => (value === null ? '–' : text(shown[at] ?? 0)),
      })),
    ],
  };
}

/** A mark of the time axis, without the units that are 0. @param {number} seconds */
function axisText(seconds) {
  if (seconds < 60) return `${Number(seconds.toFixed(1))} s`;
  const parts = {
    h: Math.floor(seconds / 3_600),
    min: Math.floor((seconds % 3_600) / 60),
    s: Math.round(seconds % 60),
  };
  return Object.entries(parts)
    .flatMap(([unit, value]) => (value > 0 ? [`${value} ${unit}`] : []))
    .join(' ');
}
