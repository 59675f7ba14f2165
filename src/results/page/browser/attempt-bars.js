// A bar for each attempt, by GPU: queued, cold start, run.

import { make } from './dom.js';
import { count, span } from './text.js';

/** @import { Table } from './table.js' */
/** @import { Attempt } from './attempts.js' */
/** @import { Course } from './time-chart.js' */

/** @typedef {{ attempt: Attempt, lane: number, outcome: string }} Bar */

const COLOURS = { queued: 'queue', 'cold start': 'cold', ran: 'good', failed: 'bad' };

/** @type {(table: Table, course: Course, open: (row: number) => void) => HTMLElement} */
export function barsOf(table, course, open) {
  const box = make('div.bars');
  for (const gpu of course.gpus.keys()) {
    const { bars, lanes } = lanesOf(table, gpu);
    const each = Math.max(4, Math.min(12, 220 / lanes));
    const canvas = make('canvas', {
      role: 'img',
      'aria-label': `${bars.length} attempts on ${table.gpus[gpu] ?? ''}`,
      style: { height: `${lanes * each}px` },
    });
    const scale = (/** @type {number} */ time) =>
      ((time - course.from) / (course.to - course.from)) * canvas.clientWidth;
    const draw = () => drawBars(canvas, bars, each, scale);
    new ResizeObserver(draw).observe(canvas);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
    const barAt = (/** @type {MouseEvent} */ { clientX, clientY }) => {
      const { left, top } = canvas.getBoundingClientRect();
      const [x, y] = [clientX - left, Math.floor((clientY - top) / each)];
      return bars.find(
        ({ lane, attempt }) => lane === y && scale(attempt.created) - 1 <= x && x <= scale(attempt.ended) + 1,
      );
    };
    canvas.onclick = (event) => {
      const bar = barAt(event);
      if (bar !== undefined) open(bar.attempt.row);
    };
    canvas.onpointermove = (event) => {
      const { attempt, outcome } = barAt(event) ?? {};
      canvas.style.cursor = attempt === undefined ? '' : 'pointer';
      canvas.title =
        attempt === undefined
          ? ''
          : `${table.key[attempt.row] ?? ''}: ${outcome}, ${span((attempt.ended - attempt.created) / 1_000)}`;
    };
    const title = make('small', ` ${count(bars.length)} attempts`);
    box.append(make('h4', table.gpus[gpu] || 'no named GPU', title), canvas);
  }
  const keys = Object.entries(COLOURS).map(([name, colour]) =>
    make('span', make('i', { style: { background: `var(--${colour})` } }), name),
  );
  box.append(make('p.keys.wrap.note', keys));
  return box;
}

/** Puts attempts that overlap into lanes. @type {(table: Table, gpu: number) => { bars: Bar[], lanes: number }} */
function lanesOf({ attempts, facts }, gpu) {
  /** @type {number[]} */
  const free = [];
  const bars = [...attempts.timed()]
    .filter((one) => one.gpu === gpu)
    .sort((a, b) => a.created - b.created)
    .map((attempt) => {
      const known = free.findIndex((until) => until <= attempt.created);
      const lane = known < 0 ? free.length : known;
      free[lane] = attempt.ended;
      return { attempt, lane, outcome: facts.outcomes[attempt.outcome] ?? 'no run' };
    });
  return { bars, lanes: Math.max(1, free.length) };
}

/** @type {(canvas: HTMLCanvasElement, bars: Bar[], each: number, scale: (time: number) => number) => void} */
function drawBars(canvas, bars, each, scale) {
  canvas.width = canvas.clientWidth * devicePixelRatio;
  canvas.height = canvas.clientHeight * devicePixelRatio;
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.scale(devicePixelRatio, devicePixelRatio);
  const height = each > 6 ? each - 2 : each - 1;
  // A canvas knows no variables: the element computes what they are.
  const colours = Object.fromEntries(
    Object.values(COLOURS).map((name) => {
      canvas.style.color = `var(--${name})`;
      return [name, getComputedStyle(canvas).color];
    }),
  );
  for (const { lane, attempt, outcome } of bars) {
    const { created, ended, queue, cold } = attempt;
    const start = Math.min(ended, created + Math.max(0, queue) * 1_000);
    const warm = Math.min(ended, start + Math.max(0, cold) * 1_000);
    for (const [from, to, name] of /** @type {const} */ ([
      [created, start, 'queue'],
      [start, warm, 'cold'],
      [warm, ended, outcome === 'succeeded' ? 'good' : 'bad'],
    ])) {
      if (to <= from) continue;
      context.fillStyle = colours[name] ?? '';
      context.fillRect(scale(from), lane * each, Math.max(1, scale(to) - scale(from) - 0.5), height);
    }
  }
}
