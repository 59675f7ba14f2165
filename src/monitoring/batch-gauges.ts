// The gauges of batches. Each scrape shows exactly the batches that were read last, so a batch that is no longer known has no
// stale series.

import type { RecentBatch, RecentBatches } from '../temporal/recent-batches.ts';
import { Gauge, type Registry } from 'prom-client';
import { rowsDone } from '../batch/accounting/tally.ts';
import type { BatchName } from '../batch/workflow-ids.ts';
import { OUTCOMES } from '../batch/outcome.ts';
import type { Progress } from '../batch/shown/progress.ts';
import type { Summary } from '../results/summary.ts';
import { errorMessage } from '../errors/error.ts';

// The figures of a batch that metrics show: of a running batch from its published progress, of an ended one from summary.json.
// They do not depend on any process, so a worker that is killed loses none of them.

/** `failed`: its workflow ended without results. */
const BATCH_STATES = ['running', 'paused', 'cancelling', 'finished', 'failed'] as const;
type BatchState = (typeof BATCH_STATES)[number];

/** Rows without a stored outcome by phase, and how progress calls their number. */
export const OPEN_PHASES = {
  unsent: 'unsent',
  waiting: 'retrying',
  sending: 'sending',
  running: 'running',
  unconfirmed: 'unconfirmed',
  collecting: 'collecting',
} as const;

const REQUEST_RESULTS = ['accepted', 'rejected', 'throttled', 'blocked', 'unconfirmed'] as const;

type Unshown = 'state' | 'batch' | 'retries' | 'pass' | 'acknowledgements';
export type BatchFigures = Omit<Progress, Unshown> & { readonly state: BatchState };

/** `isFailed`: the workflow ended, and the progress is the last one that it published. */
export const figuresOf = (progress: Progress, isFailed: boolean): BatchFigures =>
  isFailed ? { ...progress, state: 'failed', pauses: [] } : progress;

export const NOTHING_OPEN = { unsent: 0, retrying: 0, sending: 0, running: 0, unconfirmed: 0, collecting: 0 };

/** The figures of an ended batch: exactly those of its summary.json. */
export function figuresAtEnd({ outcomes, gpus, ...summary }: Summary): BatchFigures {
  const uses = Object.entries(gpus).map(
    ([gpu, { cost_usd: costUsd = 0, ...use }]) => [gpu, { ...use, costUsd }] as const,
  );
  return {
    ...NOTHING_OPEN,
    state: 'finished',
    rows: summary.rows,
    done: rowsDone({ outcomes }),
    tally: { outcomes, gpus: Object.fromEntries(uses) },
    ledger: { ...summary.requests, duplicates: summary.bought_twice },
    costUsd: summary.cost_usd ?? 0,
    concurrency: 0,
    pauses: [],
  };
}

const NANO = 1e9;

export type KnownBatch = BatchName & { readonly figures: BatchFigures };

/** The GPU label of rows that ask for none. */
const DEFAULT_GPU = 'default';

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];
type Reading = {
  readonly name: string;
  readonly help: string;
  readonly label?: string;
  readonly read: (figures: BatchFigures) => readonly Sample[];
};

/** One number of a batch; without one, no sample. */
const number = (name: string, help: string, of: (figures: BatchFigures) => number | undefined): Reading => ({
  name: `runsheet_batch_${name}`,
  help,
  read: (figures) => {
    const value = of(figures);
    return value === undefined ? [] : [[{}, value]];
  },
});

const numbers = (
  name: string,
  help: string,
  label: string,
  of: (figures: BatchFigures) => readonly (readonly [string, number])[],
): Reading => ({
  name: `runsheet_batch_${name}`,
  help,
  label,
  read: (figures) => of(figures).map(([text, value]) => [{ [label]: text }, value]),
});

const loads = (name: 'outstanding' | 'waiting' | 'unsent', help: string): Reading =>
  numbers(name, `${help}, by the GPU that they ask for`, 'gpu', ({ byGpu = [] }) =>
    byGpu.map((load) => [load.gpu ?? DEFAULT_GPU, load[name]]),
  );
/** Without a price the cost is not known, which is not 0. */
const uses = (name: string, help: string, of: 'runs' | 'seconds' | 'costUsd'): Reading =>
  numbers(name, help, 'gpu', ({ tally }) =>
    Object.entries(tally.gpus)
      .map(([gpu, use]) => [gpu, use[of]] as const)
      .filter(([, value]) => of !== 'costUsd' || value > 0),
  );

const READINGS: readonly Reading[] = [
  numbers('state', '1 for the state of the batch, 0 for all others', 'state', ({ state }) =>
    BATCH_STATES.map((each) => [each, each === state ? 1 : 0]),
  ),
  numbers('paused', '1 for each reason for which the batch is paused now', 'reason', ({ pauses }) =>
    pauses.map(({ kind }) => [kind, 1]),
  ),
  number('rows', 'All rows of the batch', ({ rows }) => rows),
  number('rows_done', 'Rows that have an outcome and whose files are stored', ({ done }) => done),
  numbers(
    'rows_ended',
    'Rows by outcome; rows that are sent again count until they have another one',
    'outcome',
    ({ tally }) => OUTCOMES.map((outcome) => [outcome, tally.outcomes[outcome] ?? 0]),
  ),
  numbers('rows_open', 'Rows without a stored outcome by phase', 'phase', (figures) =>
    Object.entries(OPEN_PHASES).map(([phase, name]) => [phase, figures[name]]),
  ),
  number('slots', 'How many runs may be outstanding now', ({ concurrency, slots = concurrency }) => slots),
  loads('outstanding', 'Attempts that may have a run'),
  loads('waiting', 'Rows that wait for their next request'),
  loads('unsent', 'Rows that were never sent'),
  numbers('requests', 'Queue Run calls by their result', 'result', ({ ledger }) =>
    REQUEST_RESULTS.map((result) => [result, ledger[result]]),
  ),
  number('duplicate_runs', 'Duplicate runs that were seen', ({ ledger }) => ledger.duplicates),
  number(
    'cost_usd',
    'Estimated cost of the runs of all collected rows in US dollars',
    ({ costUsd }) => costUsd || undefined,
  ),
  uses('gpu_cost_usd', 'The same by the GPU that was used', 'costUsd'),
  uses('gpu_seconds', 'Seconds of cold start and run by the GPU that was used', 'seconds'),
  uses('gpu_runs', 'Runs of collected rows by the GPU that was used', 'runs'),
  number(
    'budget_usd',
    'The limit of the cost (--max-cost) in US dollars, while the batch runs',
    ({ budget, maxCostNano }) => budget && maxCostNano && maxCostNano / NANO,
  ),
  number(
    'budget_spent_usd',
    'What counts as spent of the limit',
    ({ budget }) => budget && budget.spentNano / NANO,
  ),
  number(
    'budget_reserved_usd',
    'What is reserved for runs in flight',
    ({ budget }) => budget && budget.reservedNano / NANO,
  ),
];

export function createBatchGauges(registry: Registry): (batches: readonly KnownBatch[]) => void {
  const gauges = READINGS.map(({ name, help, label, read }) => ({
    gauge: new Gauge({ name, help, labelNames: ['batch', ...(label ? [label] : [])], registers: [registry] }),
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

// Knows the figures of all batches of this cluster that run or ended lately. They are read at a scrape, at most every
// two seconds, with one request to Temporal; the summary of an ended batch is read once.
export type WatchDeps = {
  recent(endedSince: Date): Promise<RecentBatches>;
  /** undefined if this worker cannot read it. */
  summaryOf(batch: RecentBatch): Promise<Summary | undefined>;
  failed(reason: string): void;
};

export type Watched = {
  readonly batches: readonly KnownBatch[];
  /** False if there are more batches than are shown. */
  readonly isComplete: boolean;
  /** When they were read, in milliseconds since 1970; undefined before the first reading. */
  readonly readAtMs: number | undefined;
};

const FRESH_MS = 2_000;
/** For how long an ended batch is shown. */
const KEPT_MS = 3_600_000;

export function watchBatches(deps: WatchDeps): () => Promise<Watched> {
  let watched: Watched = { batches: [], isComplete: true, readAtMs: undefined };
  let ended = new Map<string, BatchFigures>();
  let reading: Promise<void> | undefined;
  let triedAt = -Infinity;

  const read = async (): Promise<void> => {
    const { batches, isComplete } = await deps.recent(new Date(Date.now() - KEPT_MS));
    const kept = new Map<string, BatchFigures>();
    const known: KnownBatch[] = [];
    for (const batch of batches) {
      const figures = ended.get(endOf(batch)) ?? (await figuresNow(deps, batch));
      if (figures === undefined) continue;
      if (figures.state === 'finished' && batch.workflow === 'completed') kept.set(endOf(batch), figures);
      known.push({ batch: batch.batch, mark: batch.mark, figures });
    }
    ended = kept;
    watched = { batches: known, isComplete, readAtMs: Date.now() };
  };

  return async () => {
    if (performance.now() - triedAt >= FRESH_MS && reading === undefined)
      reading = read()
        .catch((error: unknown) => deps.failed(errorMessage(error)))
        .finally(() => {
          triedAt = performance.now();
          reading = undefined;
        });
    await reading;
    return watched;
  };
}

/** A batch that continues ends again, with other figures. */
const endOf = ({ batch, mark, closedAt }: BatchName & Pick<RecentBatch, 'closedAt'>): string =>
  `${batch}~${mark} ${closedAt?.getTime()}`;

async function figuresNow(deps: WatchDeps, batch: RecentBatch): Promise<BatchFigures | undefined> {
  const { workflow, progress } = batch;
  const summary = workflow === 'completed' ? await deps.summaryOf(batch).catch(() => undefined) : undefined;
  if (summary !== undefined) return figuresAtEnd(summary);
  return progress && figuresOf(progress, workflow === 'failed');
}
