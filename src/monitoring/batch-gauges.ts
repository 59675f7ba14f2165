// The gauges of batches. Each scrape shows exactly the batches that were read last, so a batch that is no longer known has no
// stale series.

import { Gauge, type Registry } from 'prom-client';
import type { RequestLedger } from '../batch/accounting/request-ledger.ts';
import type { GpuUse } from '../batch/accounting/tally.ts';
import type { BatchName } from '../batch/batch-ref.ts';
import { type OutcomeCounts, OUTCOMES } from '../batch/outcome.ts';
import type { PauseKind } from '../batch/pausing/pause-kinds.ts';
import type { GpuLoad, Progress } from '../batch/shown/progress.ts';
import type { Summary } from '../results/summary.ts';

// The figures of a batch that metrics show: of a running batch from its published progress, of an ended one from summary.json.
// They do not depend on any process, so a worker that is killed loses none of them.

/** `failed`: its workflow ended without results. */
const BATCH_STATES = ['running', 'paused', 'cancelling', 'finished', 'failed'] as const;
type BatchState = (typeof BATCH_STATES)[number];

export const OPEN_PHASES = ['unsent', 'waiting', 'sending', 'running', 'unconfirmed', 'collecting'] as const;
type OpenPhase = (typeof OPEN_PHASES)[number];

const REQUEST_RESULTS = ['accepted', 'rejected', 'throttled', 'blocked', 'unconfirmed'] as const;

export type BatchFigures = {
  readonly state: BatchState;
  readonly rows: number;
  readonly done: number;
  readonly outcomes: OutcomeCounts;
  readonly open: Readonly<Record<OpenPhase, number>>;
  readonly slots: number;
  readonly byGpu: readonly GpuLoad[];
  readonly pauses: readonly PauseKind[];
  readonly ledger: RequestLedger;
  readonly duplicates: number;
  readonly costUsd: number;
  readonly gpus: Readonly<Record<string, GpuUse>>;
  readonly budget:
    | { readonly usd: number; readonly spentUsd: number; readonly reservedUsd: number }
    | undefined;
};

const NANO = 1e9;

/** `isFailed`: the workflow ended, and the progress is the last one that it published. */
export function figuresOf(progress: Progress, isFailed: boolean): BatchFigures {
  const { tally, ledger, budget, maxCostNano, concurrency, slots = concurrency } = progress;
  return {
    state: isFailed ? 'failed' : progress.state,
    rows: progress.rows,
    done: progress.done,
    outcomes: tally.outcomes,
    open: {
      unsent: progress.unsent,
      waiting: progress.retrying,
      sending: progress.sending,
      running: progress.running,
      unconfirmed: progress.unconfirmed,
      collecting: progress.collecting,
    },
    slots,
    byGpu: progress.byGpu ?? [],
    pauses: isFailed ? [] : progress.pauses.map(({ kind }) => kind),
    ledger,
    duplicates: ledger.duplicates,
    costUsd: progress.costUsd,
    gpus: tally.gpus,
    budget:
      budget === undefined || maxCostNano === undefined
        ? undefined
        : {
            usd: maxCostNano / NANO,
            spentUsd: budget.spentNano / NANO,
            reservedUsd: budget.reservedNano / NANO,
          },
  };
}

const NONE_OPEN = Object.fromEntries(OPEN_PHASES.map((phase) => [phase, 0])) as BatchFigures['open'];

/** The figures of an ended batch: exactly those of its summary.json. */
export function figuresAtEnd(summary: Summary): BatchFigures {
  const { outcomes, requests, gpus } = summary;
  return {
    state: 'finished',
    rows: summary.rows,
    done: OUTCOMES.reduce((sum, outcome) => sum + outcomes[outcome], 0),
    outcomes,
    open: NONE_OPEN,
    slots: 0,
    byGpu: [],
    pauses: [],
    ledger: requests,
    duplicates: summary.bought_twice,
    costUsd: summary.cost_usd,
    gpus: Object.fromEntries(
      Object.entries(gpus).map(([gpu, { cost_usd: costUsd, ...use }]) => [gpu, { ...use, costUsd }]),
    ),
    budget: undefined,
  };
}

export type KnownBatch = BatchName & { readonly figures: BatchFigures };

/** The GPU label of rows that ask for none. */
const DEFAULT_GPU = 'default';

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];
type Reading = {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly read: (figures: BatchFigures) => readonly Sample[];
};

const one = (value: number): readonly Sample[] => [[{}, value]];
const byGpu =
  (of: 'outstanding' | 'waiting' | 'unsent') =>
  ({ byGpu: loads }: BatchFigures): readonly Sample[] =>
    loads.map((load) => [{ gpu: load.gpu ?? DEFAULT_GPU }, load[of]]);
const byGpuUsed =
  (of: 'runs' | 'seconds' | 'costUsd') =>
  ({ gpus }: BatchFigures): readonly Sample[] =>
    Object.entries(gpus).map(([gpu, use]) => [{ gpu }, use[of]]);
const ofBudget =
  (of: 'usd' | 'spentUsd' | 'reservedUsd') =>
  ({ budget }: BatchFigures): readonly Sample[] =>
    budget === undefined ? [] : one(budget[of]);

const READINGS: readonly Reading[] = [
  {
    name: 'runsheet_batch_state',
    help: '1 for the state of the batch, 0 for all others',
    labels: ['state'],
    read: ({ state }) => BATCH_STATES.map((each) => [{ state: each }, each === state ? 1 : 0]),
  },
  {
    name: 'runsheet_batch_paused',
    help: '1 for each reason for which the batch is paused now',
    labels: ['reason'],
    read: ({ pauses }) => pauses.map((reason) => [{ reason }, 1]),
  },
  {
    name: 'runsheet_batch_rows',
    help: 'All rows of the batch',
    labels: [],
    read: ({ rows }) => one(rows),
  },
  {
    name: 'runsheet_batch_rows_done',
    help: 'Rows that have an outcome and whose files are stored',
    labels: [],
    read: ({ done }) => one(done),
  },
  {
    name: 'runsheet_batch_rows_ended',
    help: 'Rows by outcome; rows that are sent again count until they have another one',
    labels: ['outcome'],
    read: ({ outcomes }) => OUTCOMES.map((outcome) => [{ outcome }, outcomes[outcome] ?? 0]),
  },
  {
    name: 'runsheet_batch_rows_open',
    help: 'Rows without a stored outcome by phase',
    labels: ['phase'],
    read: ({ open }) => OPEN_PHASES.map((phase) => [{ phase }, open[phase]]),
  },
  {
    name: 'runsheet_batch_slots',
    help: 'How many runs may be outstanding now',
    labels: [],
    read: ({ slots }) => one(slots),
  },
  {
    name: 'runsheet_batch_outstanding',
    help: 'Attempts that may have a run, by the GPU that they ask for',
    labels: ['gpu'],
    read: byGpu('outstanding'),
  },
  {
    name: 'runsheet_batch_waiting',
    help: 'Rows that wait for their next request, by the GPU that they ask for',
    labels: ['gpu'],
    read: byGpu('waiting'),
  },
  {
    name: 'runsheet_batch_unsent',
    help: 'Rows that were never sent, by the GPU that they ask for',
    labels: ['gpu'],
    read: byGpu('unsent'),
  },
  {
    name: 'runsheet_batch_requests',
    help: 'Queue Run calls by their result',
    labels: ['result'],
    read: ({ ledger }) => REQUEST_RESULTS.map((result) => [{ result }, ledger[result]]),
  },
  {
    name: 'runsheet_batch_duplicate_runs',
    help: 'Duplicate runs that were seen',
    labels: [],
    read: ({ duplicates }) => one(duplicates),
  },
  {
    name: 'runsheet_batch_cost_usd',
    help: 'Estimated cost of the runs of all collected rows in US dollars',
    labels: [],
    read: ({ costUsd }) => one(costUsd),
  },
  {
    name: 'runsheet_batch_gpu_cost_usd',
    help: 'The same by the GPU that was used',
    labels: ['gpu'],
    read: byGpuUsed('costUsd'),
  },
  {
    name: 'runsheet_batch_gpu_seconds',
    help: 'Seconds of cold start and run by the GPU that was used',
    labels: ['gpu'],
    read: byGpuUsed('seconds'),
  },
  {
    name: 'runsheet_batch_gpu_runs',
    help: 'Runs of collected rows by the GPU that was used',
    labels: ['gpu'],
    read: byGpuUsed('runs'),
  },
  {
    name: 'runsheet_batch_budget_usd',
    help: 'The limit of the cost (--max-cost) in US dollars, while the batch runs',
    labels: [],
    read: ofBudget('usd'),
  },
  {
    name: 'runsheet_batch_budget_spent_usd',
    help: 'What counts as spent of the limit',
    labels: [],
    read: ofBudget('spentUsd'),
  },
  {
    name: 'runsheet_batch_budget_reserved_usd',
    help: 'What is reserved for runs in flight',
    labels: [],
    read: ofBudget('reservedUsd'),
  },
];

/** Registers the gauges; the returned function replaces all their series. */
export function createBatchGauges(registry: Registry): (batches: readonly KnownBatch[]) => void {
  const gauges = READINGS.map(({ name, help, labels, read }) => ({
    gauge: new Gauge({ name, help, labelNames: ['batch', ...labels], registers: [registry] }),
    read,
  }));
  return (batches) => {
    for (const { gauge } of gauges) gauge.reset();
    for (const [batch, figures] of labelled(batches))
      for (const { gauge, read } of gauges)
        for (const [labels, value] of read(figures)) gauge.set({ batch, ...labels }, value);
  };
}

/** Batches are labelled by name; two of the same name, from different folders, also by their marks. */
function labelled(batches: readonly KnownBatch[]): readonly (readonly [string, BatchFigures])[] {
  const names = Map.groupBy(batches, ({ batch }) => batch);
  return batches.map(({ batch, mark, figures }) => [
    names.get(batch)?.length === 1 ? batch : `${batch}~${mark}`,
    figures,
  ]);
}
