// The figures of a replay as people want them. A replay of very many rows is extrapolated from two smaller ones, because all of
// its sums grow evenly with the rows after the beginning of a batch.

import { DEFAULT_PRICES } from '../../options/gpu.ts';
import type { MeasuredRow } from './measured-batch.ts';
import { lanesOfRows, replay, type Replayed, type ReplayParams } from './replay.ts';

export type Figures = {
  readonly seconds: number;
  readonly cost_usd: number;
  readonly runs: number;
  readonly failed_rows: number;
  /** Runs executed at the same time at most. */
  readonly most_running: number;
  /** The share of the time in which the machines were busy. */
  readonly busy: number;
  /** How long a run waited for a machine on average. */
  readonly queue_seconds: number;
};

export type FiguresParams = Omit<ReplayParams, 'rows'> & {
  readonly rows: readonly MeasuredRow[];
  /** How many rows the batch has. */
  readonly all: number;
  readonly prices: Readonly<Record<string, number>>;
};

type Amounts = Omit<Replayed, 'paidMs'> & { readonly usd: number };

export function figuresOf(given: FiguresParams, rowsMost: number): Figures {
  const { ms, usd, runs, failed, peak, busyMs, queueMs } = amountsOf(given, rowsMost);
  const { machines } = given.service;
  return {
    seconds: ms / 1000,
    cost_usd: usd,
    runs: Math.round(runs),
    failed_rows: Math.round(failed),
    most_running: peak,
    busy: busyMs / (ms * (machines === UNLIMITED ? peak : machines)),
    queue_seconds: queueMs / Math.max(1, runs) / 1000,
  };
}

/** No number of machines is known. */
export const UNLIMITED = 1e9;

function amountsOf(given: FiguresParams, rowsMost: number): Amounts {
  const { rows, all } = given;
  if (all <= rowsMost) return once(given, rows);
  const large = every(rows, rows.length / rowsMost);
  const small = every(large, 2);
  const [more, less] = [once(given, large), once(given, small)];
  const steps = (all - large.length) / (large.length - small.length);
  const extended = (name: Exclude<keyof Amounts, 'peak'>): number =>
    more[name] + (more[name] - less[name]) * steps;
  return {
    ms: extended('ms'),
    usd: extended('usd'),
    runs: extended('runs'),
    failed: extended('failed'),
    busyMs: extended('busyMs'),
    queueMs: extended('queueMs'),
    peak: more.peak,
  };
}

/** Rows from everywhere, in their order. */
const every = (rows: readonly MeasuredRow[], step: number): readonly MeasuredRow[] =>
  step <= 1
    ? rows
    : Array.from(
        { length: Math.floor(rows.length / step) },
        (_, at) => rows[Math.floor(at * step)] as MeasuredRow,
      );

function once(given: FiguresParams, rows: readonly MeasuredRow[]): Amounts {
  const { prices } = given;
  const params = { ...given.params, rows: rows.length, lanes: lanesOfRows(rows) };
  const { paidMs, ...found } = replay({ ...given, rows, params });
  const usd = [...paidMs].reduce(
    (sum, [gpu, ms]) => sum + ((prices[gpu] ?? DEFAULT_PRICES[gpu] ?? 0) * ms) / 1000,
    0,
  );
  return { ...found, usd };
}
