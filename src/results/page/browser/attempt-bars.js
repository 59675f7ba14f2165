// A bar for each attempt on a GPU: queued, cold start, run, by how it ended. A click, or Enter, opens the attempt.

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState, useWidth } from './parts.js';
import { lanesOf } from './course.js';
import { count, span } from './text.js';

/** @import { Table } from './table.js' */
/** @import { Bar, Course } from './course.js' */

/** The colour of each end of an attempt. @type {Readonly<Record<string, string>>} */
export const TONES = {
  succeeded: 'good',
  failed: 'bad',
  'timed-out': 'late',
  cancelled: 'odd',
  unknown: 'odd',
  refused: 'bad',
  'no run': 'soft',
};

/** A colour of the style, for a canvas, which knows no variables: an element computes what it is. @type {(element: HTMLElement, name: string) => string} */
export function colourOf(element, name) {
  element.style.color = `var(--${name})`;
  const { color } = getComputedStyle(element);
  element.style.color = '';
  return color;
}

/** Whether the viewer prefers dark colours, now and when it changes. */
export function useDark() {
  const query = matchMedia('(prefers-color-scheme: dark)');
  const [isDark, setDark] = useState(query.matches);
  useEffect(() => {
    const change = ({ matches }) => setDark(matches);
    query.addEventListener('change', change);
    return () => query.removeEventListener('change', change);
  }, []);
  return isDark;
}

/** @param {{ table: Table, course: Course, gpu: number, name: string, open: (row: number, attempt: number) => void }} props */
export function Bars({ table, course, gpu, name, open }) {
  const canvas = useRef();
  const width = useWidth(canvas);
  const isDark = useDark();
  const [chosen, choose] = useState(-1);
  const { bars, lanes } = useMemo(() => lanesOf(table, gpu), [course]);
  const each = Math.max(4, Math.min(12, 220 / lanes));
  const scale = (time) => ((time - course.from) / (course.to - course.from)) * width;
  useLayoutEffect(() => {
    if (width > 0) drawBars({ canvas: canvas.current, bars, each, scale, chosen });
  }, [width, bars, chosen, isDark]);
  const barAt = ({ clientX, clientY }) => {
    const { left, top } = canvas.current.getBoundingClientRect();
    const [x, lane] = [clientX - left, Math.floor((clientY - top) / each)];
    const covers = ({ created, ended }) => scale(created) - 1 <= x && x <= scale(ended) + 1;
    return bars.findIndex((bar) => bar.lane === lane && covers(bar.attempt));
  };
  const go = (bar) => bar && open(bar.attempt.row, bar.nth);
  const press = (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by !== undefined) choose(Math.min(bars.length - 1, Math.max(0, chosen + by)));
    else if (event.key === 'Enter') go(bars[chosen]);
    else return;
    event.preventDefault();
  };
  const bar = bars[chosen];
  const fates = [...new Set(bars.map(({ fate }) => fate))].map((fate) => [fate, TONES[fate] ?? 'soft']);
  /** @param {string[]} one */
  const key = ([label, tone]) => html`<span><i style=${{ background: `var(--${tone})` }}></i>${label}</span>`;
  return html`<figure class="bars">
    <figcaption class="wrap note">
      <b>${name}</b> ${count(bars.length)} attempts ${[['queued', 'queue'], ['cold start', 'cold'], ...fates].map(key)}
      <span role="status">${bar && saidOf(table, bar)}</span>
    </figcaption>
    <canvas ref=${canvas} tabindex="0" role="application" style=${{ height: `${lanes * each}px` }}
      aria-label="Attempts on ${name}: arrow keys choose one, Enter opens it" onKeyDown=${press}
      onClick=${(event) => go(bars[barAt(event)])} onPointerMove=${(event) => choose(barAt(event))}></canvas>
  </figure>`;
}

/** @type {(table: Table, bar: Bar) => string} */
const saidOf = (table, { attempt: { row, created, ended }, nth, fate }) =>
  `${table.title(row)}, attempt ${nth}: ${fate}, ${span((ended - created) / 1_000)}`;

/** @param {{ canvas: HTMLCanvasElement, bars: readonly Bar[], each: number, scale: (time: number) => number, chosen: number }} drawing */
function drawBars({ canvas, bars, each, scale, chosen }) {
  canvas.width = canvas.clientWidth * devicePixelRatio;
  canvas.height = canvas.clientHeight * devicePixelRatio;
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.scale(devicePixelRatio, devicePixelRatio);
  const height = each > 6 ? each - 2 : each - 1;
  const names = ['queue', 'cold', 'ink', ...Object.values(TONES), 'soft'];
  const colours = Object.fromEntries(names.map((name) => [name, colourOf(canvas, name)]));
  for (const [nth, { lane, attempt, fate }] of bars.entries()) {
    const { created, ended, queue, cold } = attempt;
    const start = Math.min(ended, created + Math.max(0, queue) * 1_000);
    const warm = Math.min(ended, start + Math.max(0, cold) * 1_000);
    const fill = (from, to, name) => {
      if (to <= from) return;
      context.fillStyle = colours[name] ?? '';
      context.fillRect(scale(from), lane * each, Math.max(1, scale(to) - scale(from) - 0.5), height);
    };
    fill(created, start, 'queue');
    fill(start, warm, 'cold');
    fill(warm, ended, TONES[fate] ?? 'soft');
    if (nth !== chosen) continue;
    context.strokeStyle = colours['ink'] ?? '';
    context.strokeRect(
      scale(created),
      lane * each + 0.5,
      Math.max(2, scale(ended) - scale(created)),
      height - 1,
    );
  }
}
