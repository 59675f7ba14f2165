// A bar for each attempt, by GPU: queued, cold start, run.

import { make } from './dom.js';
import { count, span } from './text.js';

/** @import { Table } from './table.js' */
/** @import { Course } from './time-chart.js' */

/** @typedef {{ row: number, lane: number, begin: number, start: number, warm: number, end: number, outcome: string }} Bar */

/**
 * @param {Table} table
 * @param {Course} course
 * @param {(row: number) => void} open
 */
export function barsOf(table, course, open) {
  const box = make('div', 'bars');
  for (const [gpu] of [...course.gpus].sort(([a], [b]) => a - b)) {
    const { bars, lanes } = lanesOf(table, gpu);
    const each = Math.max(4, Math.min(12, 220 / lanes));
    const canvas = make('canvas', {
      role: 'img',
      'aria-label': `${bars.length} attempts on ${table.gpus[gpu] ?? ''}`,
    });
    const scale = (/** @type {number} */ time) =>
      ((time - course.from) / (course.to - course.from)) * canvas.clientWidth;
    canvas.style.height = `${lanes * each}px`;
    const draw = () => drawBars(canvas, bars, each, scale);
    new ResizeObserver(draw).observe(canvas);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
    const barAt = (/** @type {MouseEvent} */ event) => {
      const { left, top } = canvas.getBoundingClientRect();
      const [x, lane] = [event.clientX - left, Math.floor((event.clientY - top) / each)];
      return bars.find((bar) => bar.lane === lane && scale(bar.begin) - 1 <= x && x <= scale(bar.end) + 1);
    };
    canvas.onclick = (event) => {
      const bar = barAt(event);
      if (bar !== undefined) open(bar.row);
    };
    canvas.onpointermove = (event) => {
      const bar = barAt(event);
      canvas.title =
        bar === undefined
          ? ''
          : `${table.key[bar.row] ?? ''}: ${bar.outcome}, ${span((bar.end - bar.begin) / 1_000)}`;
      canvas.style.cursor = bar === undefined ? '' : 'pointer';
    };
    box.append(
      make('h4', '', table.gpus[gpu] || 'no named GPU', make('small', '', ` ${count(bars.length)} attempts`)),
      canvas,
    );
  }
  const keys = ['queue', 'cold', 'run', 'bad'].map((name) =>
    make(
      'span',
      '',
      make('i', `key-${name}`),
      { queue: 'queued', cold: 'cold start', run: 'ran', bad: 'failed' }[name] ?? '',
    ),
  );
  box.append(make('p', 'keys', ...keys));
  return box;
}

/** Puts attempts that overlap into lanes.
 * @param {Table} table
 * @param {number} gpu
 */
function lanesOf({ attempts, facts }, gpu) {
  /** @type {Bar[]} */
  const bars = [];
  for (let one = 0; one < attempts.length; one += 1) {
    const [begin = 0, end = 0] = [attempts.field('created')[one], attempts.field('ended')[one]];
    const row = attempts.row[one] ?? -1;
    if (attempts.field('gpu')[one] !== gpu || row === -1 || begin === 0 || end === 0) continue;
    const start = Math.min(end, begin + Math.max(0, attempts.field('queue')[one] ?? 0) * 1_000);
    const warm = Math.min(end, start + Math.max(0, attempts.field('cold')[one] ?? 0) * 1_000);
    bars.push({
      row,
      lane: 0,
      begin,
      start,
      warm,
      end,
      outcome: facts.outcomes[attempts.field('outcome')[one] ?? -1]?.name ?? 'no run',
    });
  }
  bars.sort((a, b) => a.begin - b.begin);
  /** @type {number[]} */
  const free = [];
  for (const bar of bars) {
    const lane = free.findIndex((until) => until <= bar.begin);
    bar.lane = lane < 0 ? free.length : lane;
    free[bar.lane] = bar.end;
  }
  return { bars, lanes: Math.max(1, free.length) };
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Bar[]} bars
 * @param {number} each
 * @param {(time: number) => number} scale
 */
function drawBars(canvas, bars, each, scale) {
  const density = devicePixelRatio;
  canvas.width = canvas.clientWidth * density;
  canvas.height = canvas.clientHeight * density;
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.scale(density, density);
  const style = getComputedStyle(canvas);
  const colour = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`);
  const height = each > 6 ? each - 2 : each - 1;
  for (const { lane, begin, start, warm, end, outcome } of bars) {
    const part = (/** @type {number} */ from, /** @type {number} */ to, /** @type {string} */ name) => {
      if (to <= from) return;
      context.fillStyle = colour(name);
      context.fillRect(scale(from), lane * each, Math.max(1, scale(to) - scale(from) - 0.5), height);
    };
    part(begin, start, 'queue');
    part(start, warm, 'cold');
    part(warm, end, outcome === 'succeeded' ? 'run' : 'bad');
  }
}
