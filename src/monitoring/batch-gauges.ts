// The gauges of batches. Each scrape shows exactly the batches that were read last, so a batch that is no longer known has no
// stale series.

import { Gauge, type Registry } from 'prom-client';
import type { BatchName } from '../batch/batch-ref.ts';
import { OUTCOMES } from '../batch/outcome.ts';
import { BATCH_STATES, OPEN_PHASES, REQUEST_RESULTS, type BatchFigures } from './batch-figures.ts';

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
