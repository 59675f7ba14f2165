// The answer of a replay as programs and scripts see it.

import type { Figures } from '../../results/what-if/figures.ts';
import type { GpuRatio } from '../../results/what-if/gpu-ratio.ts';
import type { WhatIf } from '../../results/what-if/what-if.ts';
import type { Replay } from './replayed-batch.ts';

/** `low` and `high` bound the value; `expected` is null if one of the unknowns has only bounds. */
export type ShownInterval = {
  /** At least. */
  readonly low: number;
  /** Most likely. */
  readonly expected: number | null;
  /** At most. */
  readonly high: number;
};

/** The figures of a batch. */
type ShownFigures = Figures;

/** What a finished batch would have taken and cost. */
export type WhatIfAnswer = {
  /** The id of the batch. */
  readonly batch: string;
  /** All of its rows. */
  readonly rows: number;
  /** The rows that were replayed; the others are extrapolated. */
  readonly replayed_rows: number;
  /** What is different in the replay. */
  readonly change: Readonly<Record<string, unknown>>;
  /** As the batch was. */
  readonly was: ShownFigures;
  /** The same batch by the model: how far the model can be trusted. */
  readonly replayed: ShownFigures;
  /** With the change. */
  readonly what_if: Readonly<Record<keyof Figures, ShownInterval>>;
  /** The machines of the deployment; `at_most` is null if it is not known. */
  readonly machines: { readonly at_least: number; readonly at_most: number | null; readonly source: string };
  /** How long runs take on the other GPU, compared with the GPUs of the batch. */
  readonly gpus: readonly (Omit<GpuRatio, 'expected'> & { readonly expected: number | null })[];
  /** The time between two runs of a slot; null if it was not measured. */
  readonly start_latency_seconds: number | null;
  /** From so many slots on, runs only queue; null if it is not known. */
  readonly enough_slots: number | null;
  /** The figures for other numbers of slots. */
  readonly curve: readonly (ShownFigures & { readonly concurrency: number })[];
};

/** All names in snake_case. */
export function shownWhatIf({ found, change, answer }: Replay): WhatIfAnswer {
  const { was, replayed, machines, ratios, enough, facts, replayedRows } = answer;
  return {
    batch: found.batch,
    rows: answer.batchRows,
    replayed_rows: replayedRows,
    change: {
      ...(change.concurrency === undefined ? {} : { concurrency: change.concurrency }),
      ...(change.retries === undefined ? {} : { retries: change.retries }),
      ...(change.retriesByKind === undefined ? {} : { retries_by_kind: change.retriesByKind }),
      ...(change.startsPerMinute === undefined ? {} : { starts_per_minute: change.startsPerMinute }),
      ...(change.gpuConcurrency === undefined ? {} : { gpu_concurrency: change.gpuConcurrency }),
      ...(change.gpu === undefined ? {} : { gpu: change.gpu }),
    },
    was: roundedFigures(was),
    replayed: roundedFigures(replayed),
    what_if: Object.fromEntries(
      FIGURES.map((name) => [name, intervalOf(answer, name)]),
    ) as WhatIfAnswer['what_if'],
    machines: { at_least: machines.slow, at_most: machines.fast ?? null, source: machines.source },
    gpus: ratios.map(({ expected = null, ...ratio }) => ({ ...ratio, expected })),
    start_latency_seconds: facts.latencies.isTurnaroundMeasured ? latencyOf(answer) / 1000 : null,
    enough_slots: enough?.slots ?? null,
    curve: (enough?.curve ?? []).map(({ concurrency, ...figures }) => ({
      concurrency,
      ...roundedFigures(figures),
    })),
  };
}

const FIGURES = [
  'seconds',
  'cost_usd',
  'runs',
  'failed_rows',
  'most_running',
  'busy',
  'queue_seconds',
] as const satisfies (keyof Figures)[];

export type Figure = (typeof FIGURES)[number];

const rounded = (number: number): number => Number(number.toFixed(6));

const roundedFigures = (figures: Figures): ShownFigures =>
  Object.fromEntries(FIGURES.map((name) => [name, rounded(figures[name])])) as ShownFigures;

export function intervalOf({ fast, slow, expected }: WhatIf, name: Figure): ShownInterval {
  const all = [fast, slow, ...(expected === undefined ? [] : [expected])].map((figures) => figures[name]);
  return {
    low: rounded(Math.min(...all)),
    expected: expected === undefined ? null : rounded(expected[name]),
    high: rounded(Math.max(...all)),
  };
}

const latencyOf = ({ facts }: WhatIf): number => {
  const { turnaroundsMs } = facts.latencies;
  return turnaroundsMs[turnaroundsMs.length >> 1] ?? 0;
};
