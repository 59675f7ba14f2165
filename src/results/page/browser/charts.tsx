// The course of the batch over time, with one crosshair for all charts, and a bar for each attempt as long as bars can be
// distinguished. Times are counted from the first run, without the time in which the batch had ended.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
// The library looks for a window when it is loaded, so no other module may import it.
import Plot, { type AlignedData, type Options } from 'uplot';
import type { Table } from './all-rows.ts';
import { BUCKETS, courseOf, lanesOf, smooth, type Bar, type Course } from './course.ts';
import { toneOf, useWidth } from './view-parts.tsx';
import { count, money, plural, span } from '../../../options/text/printed-numbers.ts';
import { rough } from './text.ts';

/** `shown`: the values of a line that is drawn on top of another. */
type Series = {
  name: string;
  tone: string;
  values: Float64Array;
  isFilled?: boolean;
  shown?: Float64Array;
};
type OpenAttempt = (row: number, attempt: number) => void;

const MAX_BARS = 2_000;
const HEIGHT = 150;
/** Seconds between two marks of the time axis. */
const STEPS = [
  0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400,
];
const rounded = (value: number): string => count(Math.round(value));

export function Charts({ table, open }: { table: Table; open: OpenAttempt }) {
  const course = useMemo(() => courseOf(table), [table.version]);
  if (course === undefined) return <p class="note">No run has ended yet.</p>;
  const { busy, queued, ended, waits, cost, gpus, each } = course;
  // Some milliseconds say nothing about a minute.
  const near = Math.max(4, Math.ceil(2_500 / each));
  const rates = [...ended].map(([name, values]): Series => {
    const perMinute = values.map((runs) => (runs / each) * 60_000);
    return { name, tone: name, values: smooth(perMinute, near) };
  });
  const outstanding = queued.map((runs, bucket) => runs + (busy[bucket] ?? 0));
  const running: Series = { name: 'running', tone: 'succeeded', values: busy, isFilled: true };
  const waiting: Series = {
    name: 'queued',
    tone: 'queued',
    values: outstanding,
    shown: queued,
    isFilled: true,
  };
  const wait: Series = { name: 'queued for', tone: 'accent', values: smooth(waits) };
  const paid: Series = { name: 'cost', tone: 'accent', values: cost, isFilled: true };
  return (
    <div class="columns">
      <Chart title="Runs in flight" text={rounded} course={course} series={[waiting, running]} />
      <Chart title="Runs ended a minute" text={rough} course={course} series={rates} />
      <Chart title="Mean queueing time" text={span} course={course} series={[wait]} />
      {cost.some(Boolean) && <Chart title="Cost so far" text={money} course={course} series={[paid]} />}
      {[...gpus].map(([gpu, values]) => {
        const name = table.gpus[gpu] || 'no named GPU';
        if (table.attempts.length <= MAX_BARS)
          return <Bars key={gpu} table={table} course={course} gpu={gpu} name={name} open={open} />;
        const series = [{ ...running, values }];
        return (
          <Chart key={gpu} title={`Running on ${name}`} text={rounded} course={course} series={series} />
        );
      })}
    </div>
  );
}

/** A colour of the style. A canvas knows no variables, so an element computes it. */
function colourOf(element: HTMLElement, name: string): string {
  element.style.color = `var(--${name})`;
  const { color } = getComputedStyle(element);
  element.style.color = '';
  return color;
}

type ChartProps = {
  title: string;
  course: Course;
  series: readonly Series[];
  text: (value: number) => string;
};

function Chart({ title, course, series, text }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot>();
  const width = useWidth(box);
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
  const data = useMemo(() => dataOf(course, series), [course]);
  useEffect(() => {
    if (width === 0 || box.current === null) return undefined;
    const made = new Plot(optionsOf(box.current, width, series, text), data, box.current);
    plot.current = made;
    return () => made.destroy();
  }, [width, isDark, series.length]);
  useEffect(() => plot.current?.setData(data), [data]);
  const most = Math.max(0, ...series.flatMap(({ values }) => Array.from(values)));
  return (
    <figure class="chart">
      <figcaption>
        <b>{title}</b>
        <span class="hidden">, at most {text(most)}</span>
      </figcaption>
      <div ref={box} />
    </figure>
  );
}

const dataOf = ({ each }: Course, series: readonly Series[]): AlignedData => [
  Array.from({ length: BUCKETS }, (_, bucket) => ((bucket + 0.5) * each) / 1_000),
  ...series.map(({ values }) => Array.from(values)),
];

function optionsOf(
  box: HTMLElement,
  width: number,
  series: readonly Series[],
  text: (value: number) => string,
): Options {
  const [soft, line] = [colourOf(box, 'soft'), colourOf(box, 'line')];
  const axis = {
    stroke: soft,
    grid: { stroke: line, width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  };
  const marks = (write: (value: number) => string) => (_: Plot, values: number[]) =>
    values.map((value) => (value === 0 ? '0' : write(value)));
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
        stroke: colourOf(box, tone),
        ...(isFilled && { fill: `color-mix(in srgb, ${colourOf(box, tone)} 22%, transparent)` }),
        points: { show: false },
        value: (_: Plot, value: number | null, __: number, at: number | null) =>
          value === null ? '–' : text(shown[at ?? -1] ?? 0),
      })),
    ],
  };
}

/** A mark of the time axis, without the parts that are 0. */
const axisText = (seconds: number): string =>
  span(seconds)
    .replace('.0 ', ' ')
    .replace(/ 00 (?:s|min)$/, '');

type BarsProps = { table: Table; course: Course; gpu: number; name: string; open: OpenAttempt };

/** A bar for each attempt on a GPU: queued, cold start, run, by how it ended. A click, or Enter, opens the attempt. */
function Bars({ table, course, gpu, name, open }: BarsProps) {
  const [chosen, choose] = useState(-1);
  const { bars, lanes } = useMemo(() => lanesOf(table, gpu), [course]);
  const each = Math.max(4, Math.min(12, 220 / lanes));
  const share = (time: number) => (100 * (time - course.from)) / (course.to - course.from);
  const placeOf = ({ attempt: { created, ended }, lane }: Bar) => ({
    left: `${share(created)}%`,
    width: `${share(ended) - share(created)}%`,
    top: `${lane * each}px`,
    height: `${each - 1}px`,
  });
  const go = (bar: Bar | undefined) => bar && open(bar.attempt.row, bar.attempt.nth);
  const item = (bar: Bar, nth: number) => {
    const style = { ...placeOf(bar), background: coloursOf(bar) };
    return <div key={nth} style={style} onClick={() => go(bar)} onPointerEnter={() => choose(nth)} />;
  };
  const items = useMemo(() => bars.map(item), [bars]);
  const press = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };
    const by = steps[event.key];
    if (by !== undefined) choose(Math.min(bars.length - 1, Math.max(0, chosen + by)));
    else if (event.key === 'Enter') go(bars[chosen]);
    else return;
    event.preventDefault();
  };
  const bar = bars[chosen];
  const keys = ['queued', 'cold', ...new Set(bars.map(({ outcome }) => outcome))];
  return (
    <figure class="bars">
      <figcaption class="wrap">
        <b>{name}</b> {plural(bars.length, 'attempt')}{' '}
        {keys.map((key) => (
          <span key={key}>
            <i style={toneOf(key)} />
            {key}
          </span>
        ))}
        <span role="status">{bar && saidOf(table, bar)}</span>
      </figcaption>
      <div
        class="attempts"
        tabindex={0}
        role="application"
        style={{ height: `${lanes * each}px` }}
        onKeyDown={press}
        aria-label={`Attempts on ${name}: arrow keys choose one, Enter opens it`}
      >
        {items}
        {bar && <div class="chosen" style={placeOf(bar)} />}
      </div>
    </figure>
  );
}

const saidOf = (table: Table, { attempt: { row, nth, created, ended }, outcome }: Bar): string =>
  `${table.title(row)}, attempt ${nth}: ${outcome}, ${span((ended - created) / 1_000)}`;

function coloursOf({ attempt: { created, ended, queue, cold }, outcome }: Bar): string {
  const shareOf = (seconds: number) => `${Math.min(100, (100_000 * seconds) / (ended - created))}%`;
  const started = shareOf(Math.max(0, queue));
  const warm = shareOf(Math.max(0, queue) + Math.max(0, cold));
  return `linear-gradient(90deg, var(--queued) ${started}, var(--cold) ${started} ${warm}, var(--${outcome}) ${warm})`;
}
