// Forecasts the cost and the wall time of rows from samples of ended rows. Rows are grouped in kinds: by GPU, and whether they
// are among the first of their batch, for which the service has to start containers. Otherwise the cold starts of a small
// batch would count for every row of a large one.

import {
  addSums,
  intervalOf,
  timesSum,
  type Interval,
  meanOf,
  sumOver,
  type Kind,
  type Use,
  type Sample,
} from './interval.ts';
import { atTheSameTime, wallTime, type Capacity, type Waiting } from './wall-time.ts';

export type ForecastParams = Capacity & {
  readonly samples: readonly Sample[];
  readonly rows: Readonly<Record<string, number>>;
  /** US dollars per second by GPU. */
  readonly prices: Readonly<Record<string, number>>;
  readonly retries: number;
  /** Containers that are warm already: so many fewer rows start one. */
  readonly warm?: number;
};

/** What is undefined cannot be known: the GPU was not measured, or has no price. */
export type Amounts = {
  readonly rows: number;
  readonly runs: number;
  readonly costUsd: Interval | undefined;
  readonly seconds: Interval | undefined;
};

/** The total is undefined if one GPU is. `seconds` of a GPU: if only its rows were sent. */
export type Forecast = Amounts & { readonly byGpu: Readonly<Record<string, Amounts>> };

/** Fewer samples say almost nothing about how much rows differ. */
const SAMPLES_MIN = 3;

export function forecast(params: ForecastParams): Forecast {
  const asked = Object.entries(params.rows).filter(([, rows]) => rows > 0);
  const all = asked.reduce((sum, [, rows]) => sum + rows, 0);
  const measured = asked.map(([gpu, rows]) => measure(params, gpu, rows, all));
  const byGpu = measured.map((one) => [one.gpu, amountsOf(params, [one])] as const);
  const [only] = byGpu.length === 1 ? byGpu : [];
  return { ...(only?.[1] ?? amountsOf(params, measured)), byGpu: Object.fromEntries(byGpu) };
}

type Measured = {
  readonly gpu: string;
  readonly rows: number;
  readonly samples: readonly Sample[];
  /** Empty if the GPU was not measured. */
  readonly kinds: readonly Kind[];
};

function measure(params: ForecastParams, gpu: string, rows: number, allRows: number): Measured {
  const samples = params.samples
    .filter((sample) => sample.gpu === gpu)
    .map((sample) => ({ ...sample, runs: sample.runs.slice(0, params.retries + 1) }));
  if (samples.length < SAMPLES_MIN) return { gpu, rows, samples, kinds: [] };
  const mayRetry = params.retries > 0;
  const cold = Math.max(0, atTheSameTime(params, allRows) - (params.warm ?? 0));
  const opening = Math.min(rows, Math.round((cold * rows) / allRows));
  const kinds = [
    kindOf(opening, { isOpening: true, uses: openingUses(samples), mayRetry }),
    kindOf(rows - opening, { isOpening: false, uses: steadyUses(samples), mayRetry }),
  ];
  return { gpu, rows, samples, kinds: kinds.filter((kind) => kind.rows > 0) };
}

type KindParams = Pick<Kind, 'isOpening'> & { readonly uses: readonly Use[]; readonly mayRetry: boolean };

const kindOf = (rows: number, { isOpening, uses, mayRetry }: KindParams): Kind => ({
  rows,
  isOpening,
  seconds: uses.map(({ seconds }) => seconds),
  sum: sumOver(rows, uses, mayRetry),
});

/** With too few samples of the first rows, all samples count, with the cold start that the few had. */
function openingUses(samples: readonly Sample[]): readonly Use[] {
  const own = samples.filter(({ isOpening }) => isOpening);
  if (own.length >= SAMPLES_MIN) return own.map((sample) => useOf(sample));
  const coldStart = own.length === 0 ? undefined : meanOf(own.map(coldStartOf));
  return samples.map((sample) => useOf(sample, coldStart));
}

/** With too few samples from later in a batch, its first rows count without their cold starts: later, containers are warm. */
function steadyUses(samples: readonly Sample[]): readonly Use[] {
  const own = samples.filter(({ isOpening }) => !isOpening);
  if (own.length >= SAMPLES_MIN) return own.map((sample) => useOf(sample));
  return samples.map((sample) => useOf(sample, sample.isOpening ? 0 : undefined));
}

const useOf = (sample: Sample, coldStart = coldStartOf(sample)): Use => ({
  batch: sample.batch,
  seconds: coldStart + sample.runs.reduce((sum, { run }) => sum + run, 0),
  isRetried: sample.runs.length > 1,
});

const coldStartOf = ({ runs }: Sample): number => runs.reduce((sum, { coldStart }) => sum + coldStart, 0);

function amountsOf(params: ForecastParams, measured: readonly Measured[]): Amounts {
  const samples = measured.flatMap((one) => one.samples);
  const isKnown = measured.every(({ kinds }) => kinds.length > 0);
  const hasPrices = measured.every(({ gpu }) => params.prices[gpu] !== undefined);
  const costs = measured.flatMap(({ gpu, kinds }) =>
    kinds.map(({ sum }) => timesSum(sum, params.prices[gpu] ?? 0)),
  );
  const kinds = measured.flatMap((one) => one.kinds);
  return {
    rows: measured.reduce((sum, { rows }) => sum + rows, 0),
    runs: samples.reduce((sum, { runs }) => sum + runs.length, 0),
    costUsd: isKnown && hasPrices ? intervalOf(addSums(costs)) : undefined,
    seconds: isKnown ? wallTime(kinds, params, waitingOf(samples)) : undefined,
  };
}

function waitingOf(samples: readonly Sample[]): Waiting {
  const queued = samples.flatMap(({ queueSeconds }) => queueSeconds ?? []);
  const runs = samples.reduce((sum, sample) => sum + sample.runs.length, 0);
  return {
    queueSeconds: queued.length === 0 ? 0 : meanOf(queued),
    runsPerRow: runs / samples.length,
  };
}
