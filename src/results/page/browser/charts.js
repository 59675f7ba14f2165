// The course of the batch over time, with one crosshair for all charts, and a bar for each attempt as long as bars can be
// distinguished. Times are counted from the first run, without the time in which the batch had ended.

import Plot from 'uplot';
import { html, toneOf, useEffect, useMemo, useRef, useState, useWidth } from './parts.js';
import { BUCKETS, courseOf, lanesOf, smooth } from './course.js';
import { count, money, plural, rough, span } from './text.js';

/** @import { Table } from './all-rows.js' */
/** @import { Bar, Course } from './course.js' */
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
  // Some milliseconds say nothing about a minute.
  const near = Math.max(4, Math.ceil(2_500 / each));
  const rateOf = (one) => (one / each) * 60_000;
  const tones = [...ended].map(([name, values]) => ({ name, tone: name, values }));
  const rates = tones.map((one) => ({ ...one, values: smooth(one.values.map(rateOf), near) }));
  const both = queued.map((one, bucket) => one + (busy[bucket] ?? 0));
  const whole = (value) => count(Math.round(value));
  const running = { name: 'running', tone: 'succeeded', values: busy, isFilled: true };
  /** @type {(title: string, text: (value: number) => string, ...series: Series[]) => unknown} */
  const chart = (title, text, ...series) =>
    html`<${Chart} key=${title} ...${{ title, course, text, series }} />`;
  return html`<div class="columns">
    ${chart('Outstanding runs', whole, { name: 'queued', tone: 'queued', values: both, shown: queued, isFilled: true }, running)}
    ${chart('Runs ended a minute', rough, ...rates)}
    ${chart('Mean queueing time', span, { name: 'queued for', tone: 'accent', values: smooth(waits) })}
    ${cost.some(Boolean) && chart('Cost so far', money, { name: 'cost', tone: 'accent', values: cost, isFilled: true })}
    ${[...gpus].map(([gpu, values]) => {
      const name = table.gpus[gpu] || 'no named GPU';
      if (table.attempts.length > BARS_MOST)
        return chart(`Running on ${name}`, whole, { ...running, values });
      return html`<${Bars} key=${gpu} ...${{ table, course, gpu, name, open }} />`;
    })}
  </div>`;
}

/** A colour of the style, for a canvas, which knows no variables: an element computes what it is. @type {(element: HTMLElement, name: string) => string} */
function colourOf(element, name) {
  element.style.color = `var(--${name})`;
  const { color } = getComputedStyle(element);
  element.style.color = '';
  return color;
}

/** @param {{ title: string, course: Course, series: Series[], text: (value: number) => string }} props */
function Chart({ title, course, series, text }) {
  const box = useRef();
  const plot = useRef();
  const width = useWidth(box);
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
  const data = useMemo(() => dataOf(course, series), [course]);
  useEffect(() => {
    if (width === 0) return undefined;
    plot.current = new Plot(optionsOf({ own: box.current, width, series, text }), data, box.current);
    return () => plot.current.destroy();
  }, [width, isDark, series.length]);
  useEffect(() => plot.current?.setData(data), [data]);
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

/** A mark of the time axis, without what is 0. @param {number} seconds */
const axisText = (seconds) =>
  span(seconds)
    .replace('.0 ', ' ')
    .replace(/ 0 (?:s|min)$/, '');

/** A bar for each attempt on a GPU: queued, cold start, run, by how it ended. A click, or Enter, opens the attempt. @param {{ table: Table, course: Course, gpu: number, name: string, open: (row: number, attempt: number) => void }} props */
function Bars({ table, course, gpu, name, open }) {
  const [chosen, choose] = useState(-1);
  const { bars, lanes } = useMemo(() => lanesOf(table, gpu), [course]);
  const each = Math.max(4, Math.min(12, 220 / lanes));
  const share = (time) => (100 * (time - course.from)) / (course.to - course.from);
  const placeOf = ({ attempt: { created, ended }, lane }) => ({
    left: `${share(created)}%`,
    width: `${share(ended) - share(created)}%`,
    top: `${lane * each}px`,
    height: `${each - 1}px`,
  });
  const go = (bar) => bar && open(bar.attempt.row, bar.attempt.nth);
  const item = (bar, nth) => {
    const style = { ...placeOf(bar), background: coloursOf(bar) };
    return html`<div key=${nth} style=${style} onClick=${() => go(bar)} onPointerEnter=${() => choose(nth)}></div>`;
  };
  const items = useMemo(() => bars.map(item), [bars]);
  const press = (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by !== undefined) choose(Math.min(bars.length - 1, Math.max(0, chosen + by)));
    else if (event.key === 'Enter') go(bars[chosen]);
    else return;
    event.preventDefault();
  };
  const bar = bars[chosen];
  const keys = ['queued', 'cold', ...new Set(bars.map(({ outcome }) => outcome))];
  const key = (one) => html`<span><i style=${toneOf(one)}></i>${one}</span>`;
  return html`<figure class="bars">
    <figcaption class="wrap">
      <b>${name}</b> ${plural(bars.length, 'attempt')} ${keys.map(key)}
      <span role="status">${bar && saidOf(table, bar)}</span>
    </figcaption>
    <div class="attempts" tabindex="0" role="application" style=${{ height: `${lanes * each}px` }} onKeyDown=${press}
      aria-label="Attempts on ${name}: arrow keys choose one, Enter opens it">
      ${items}${bar && html`<div class="chosen" style=${placeOf(bar)}></div>`}
    </div>
  </figure>`;
}

/** @type {(table: Table, bar: Bar) => string} */
const saidOf = (table, { attempt: { row, nth, created, ended }, outcome }) =>
  `${table.title(row)}, attempt ${nth}: ${outcome}, ${span((ended - created) / 1_000)}`;

/** @param {Bar} bar */
function coloursOf({ attempt: { created, ended, queue, cold }, outcome }) {
  const shareOf = (seconds) => `${Math.min(100, (100_000 * seconds) / (ended - created))}%`;
  const started = shareOf(Math.max(0, queue));
  const warm = shareOf(Math.max(0, queue) + Math.max(0, cold));
  return `linear-gradient(90deg, var(--queued) ${started}, var(--cold) ${started} ${warm}, var(--${outcome}) ${warm})`;
}
