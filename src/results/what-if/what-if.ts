// Replays a finished batch under other limits or on another GPU. What the batch did not measure makes an interval: each unknown
// has a value that makes the batch fast and one that makes it slow, and the batch is replayed with both.

import { DEFAULT_PRICES } from '../../options/gpu.ts';
import { FAILURE_KINDS, retriesFor } from '../../options/failure-kind.ts';
import { withoutNone, type BatchParams, type LimitChange } from '../../batch/params.ts';
import { paramsOf } from '../../store/batch-file.ts';
import type { Sample } from '../forecast/sample.ts';
import { enoughSlots, type Enough } from './enough-slots.ts';
import { figuresOf, UNLIMITED, type Figures } from './figures.ts';
import { furtherAttempts } from './further-attempts.ts';
import { gpuRatio, type GpuRatio } from './gpu-ratio.ts';
import type { MeasuredBatch, MeasuredRow } from './measured-batch.ts';
import { moveTo } from './other-gpu.ts';
import { serviceFacts, type ServiceFacts } from './service-facts.ts';

export type Change = Pick<
  LimitChange,
  'concurrency' | 'retries' | 'retriesByKind' | 'startsPerMinute' | 'gpuConcurrency'
> & {
  /** All rows on this GPU. */
  readonly gpu?: string;
};

type Machines = {
  /** Machines of the deployment; undefined if no run ever waited for one and the service names no limit. */
  readonly fast: number | undefined;
  /** The machines that were really seen together. */
  readonly slow: number;
  /** `queued`: runs waited for the machines that there are; `named`: by the service; `unknown`: there may be more. */
  readonly source: 'queued' | 'named' | 'unknown';
};

export type WhatIf = {
  /** As the batch was. */
  readonly was: Figures;
  /** The same batch by the model: how much the model can be trusted. */
  readonly replayed: Figures;
  /** undefined if one of the unknowns has only bounds. */
  readonly expected: Figures | undefined;
  /** The fast and the slow end of the interval; the same if everything was measured. */
  readonly fast: Figures;
  readonly slow: Figures;
  readonly machines: Machines;
  readonly ratios: readonly GpuRatio[];
  /** undefined if the number of machines or the time on the GPU is not known. */
  readonly enough: Enough | undefined;
  readonly facts: ServiceFacts;
  readonly params: BatchParams;
  /** Whether other retries make attempts that the batch did not make. */
  readonly isRetryGuessed: boolean;
  /** All rows of the batch, those that ran, and those of them that were replayed. */
  readonly batchRows: number;
  readonly rows: number;
  readonly replayedRows: number;
};

/** A GPU that has neither runs nor a price cannot be replayed. */
export class UnknownGpu extends Error {}

/** More rows are extrapolated: a replay of so many takes a second at most. */
const ROWS_MOST = 4_000;

type End = 'fast' | 'expected' | 'slow';

export function whatIf(
  batch: MeasuredBatch,
  change: Change,
  samples: readonly Sample[],
  facts = serviceFacts(batch),
): WhatIf {
  const before = paramsBefore(batch);
  const params = changed(before, change);
  const machines = machinesOf(batch, facts);
  const prices = { ...DEFAULT_PRICES, ...batch.file.service.prices };
  const ratios = change.gpu === undefined ? [] : ratiosTo(change.gpu, batch.rows, samples, prices);
  const further = furtherAttempts(batch.rows);
  const own = { rows: batch.rows, starts: facts.starts, warmAtStart: facts.warmAtStart };
  const moved = (end: End): typeof own =>
    change.gpu === undefined ? own : moveTo(change.gpu, { rows: batch.rows, facts, samples, ratios, end });
  const figures = (
    end: End,
    limits: BatchParams,
    { rows, ...starts } = moved(end),
    most = ROWS_MOST,
  ): Figures =>
    figuresOf(
      {
        rows,
        all: batch.all,
        params: limits,
        prices,
        furtherAttempt: further[end],
        service: {
          ...starts,
          latencies: facts.latencies,
          machines: (end === 'slow' ? machines.slow : machines.fast) ?? UNLIMITED,
        },
      },
      most,
    );

  const isRetryGuessed = raisesRetries(before, params);
  const { isExpected, isExact } = certaintyOf({ machines, params, ratios, isRetryGuessed });
  const expected = isExpected ? figures('expected', params) : undefined;
  const isEnoughKnown = expected !== undefined && machines.fast === machines.slow;
  const atCap = (concurrency: number, most: number): Figures =>
    figures('expected', { ...params, concurrency }, undefined, most);
  return {
    was: figuresBefore(batch, facts, machines),
    replayed: figures('expected', before, own),
    expected,
    fast: expected !== undefined && isExact ? expected : figures('fast', params),
    slow: expected !== undefined && isExact ? expected : figures('slow', params),
    machines,
    ratios,
    facts,
    params,
    isRetryGuessed,
    enough: isEnoughKnown
      ? enoughSlots(atCap, {
          machines: machines.slow,
          asked: { concurrency: params.concurrency, ...expected },
          before: before.concurrency,
          rows: batch.all,
          rowsMost: ROWS_MOST,
        })
      : undefined,
    rows: batch.all,
    batchRows: batch.summary.rows,
    replayedRows: Math.min(batch.all, batch.rows.length, ROWS_MOST),
  };
}

/** Whether there is one most likely result, and whether nothing but that is possible. */
function certaintyOf({
  machines: { fast, slow, source },
  params: { concurrency },
  ratios,
  isRetryGuessed,
}: Pick<WhatIf, 'machines' | 'params' | 'ratios' | 'isRetryGuessed'>): {
  readonly isExpected: boolean;
  readonly isExact: boolean;
} {
  const areMachinesKnown = fast === slow || concurrency <= slow;
  const isBounded = ratios.some(({ expected }) => expected === undefined);
  return {
    isExpected: !isBounded && (areMachinesKnown || source === 'named'),
    isExact: areMachinesKnown && !isRetryGuessed && ratios.every(({ low, high }) => low === high),
  };
}

/** Limits that pause a batch are left out, because a replay has no user who could resume it; -c auto is replayed at its bound. */
const NOT_REPLAYED: ReadonlySet<string> = new Set([
  'failAfter',
  'deadlineAt',
  'maxCostNano',
  'reserve',
  'reused',
  'canary',
  'adaptive',
  'pool',
  'weight',
  'urgency',
]);

function paramsBefore({ file, all }: MeasuredBatch): Replayable {
  const given = paramsOf(file, { webhooks: file.webhooks, lists: true, pass: 1 });
  const replayed = Object.entries(given).filter(([name]) => !NOT_REPLAYED.has(name));
  return { ...(Object.fromEntries(replayed) as Replayable), rows: all };
}

type Replayable = Omit<BatchParams, 'adaptive'>;

function changed(before: Replayable, change: Change): Replayable {
  const { gpu: _, ...limits } = change;
  const retriesByKind = { ...before.retriesByKind, ...limits.retriesByKind };
  const { gpuConcurrency: caps } = limits;
  const gpus = typeof caps === 'object' ? { gpuConcurrency: { ...before.gpuConcurrency, ...caps } } : {};
  return withoutNone({ ...before, ...limits, retriesByKind, ...gpus });
}

const raisesRetries = (before: BatchParams, after: BatchParams): boolean =>
  FAILURE_KINDS.some((kind) => retriesFor(kind, after) > retriesFor(kind, before));

function machinesOf({ file }: MeasuredBatch, { peak, hasQueued }: ServiceFacts): Machines {
  const named = file.deployment.concurrencyLimit;
  if (hasQueued) return { fast: peak, slow: peak, source: 'queued' };
  if (named === undefined) return { fast: undefined, slow: peak, source: 'unknown' };
  return { fast: Math.max(named, peak), slow: peak, source: 'named' };
}

function ratiosTo(
  to: string,
  rows: readonly MeasuredRow[],
  samples: readonly Sample[],
  prices: Readonly<Record<string, number>>,
): readonly GpuRatio[] {
  const good = rows.flatMap(({ attempts }) => attempts.filter(({ outcome }) => outcome === 'succeeded'));
  const own = new Map(
    [...Map.groupBy(good, ({ gpu }) => gpu)].map(([gpu, some]) => [
      gpu,
      some.map(({ runMs }) => runMs / 1000),
    ]),
  );
  const used = new Set(rows.flatMap(({ attempts }) => attempts.map(({ gpu }) => gpu).filter(Boolean)));
  return [...used].map((from) => {
    const ratio = gpuRatio(from, to, { samples, own, prices });
    if (ratio === undefined) throw new UnknownGpu(`neither a run nor a price of ${to} is known`);
    return ratio;
  });
}

function figuresBefore(
  { summary, rows, all }: MeasuredBatch,
  { peak, busyMs, queueMs }: ServiceFacts,
  { fast }: Machines,
): Figures {
  const runs = rows.reduce((sum, { attempts }) => sum + attempts.length, 0);
  const scale = all / Math.max(1, rows.length);
  return {
    seconds: summary.seconds,
    cost_usd: summary.cost_usd,
    runs: summary.runs,
    failed_rows: Math.round(
      rows.filter(({ attempts }) => attempts.at(-1)?.outcome !== 'succeeded').length * scale,
    ),
    most_running: peak,
    busy: (busyMs * scale) / (summary.seconds * 1000 * (fast ?? Math.max(1, peak))),
    queue_seconds: queueMs / Math.max(1, runs) / 1000,
  };
}
