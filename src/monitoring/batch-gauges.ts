// The gauges of batches. Each scrape shows exactly the batches that were read last, so a forgotten batch leaves no
// stale series.

import { Gauge, type Registry } from 'prom-client';
import { OUTCOMES } from '../batch/outcome.ts';
import { BATCH_STATES, type BatchFigures, type KnownBatch, OPEN_PHASES } from './batch-figures.ts';
import { usdOf } from '../options/text/printed-numbers.ts';

const REQUEST_RESULTS = ['accepted', 'rejected', 'throttled', 'blocked', 'unconfirmed'] as const;

/** The GPU label of rows that ask for none. */
const DEFAULT_GPU = 'default';

type GaugeSample = readonly [labels: Readonly<Record<string, string>>, value: number];
type GaugeReading = {
  readonly name: string;
  readonly help: string;
  readonly label?: string;
  readonly read: (figures: BatchFigures) => readonly GaugeSample[];
};

/** A gauge with one number per batch; a batch without the number has no sample. */
const number = (
  name: string,
  help: string,
  of: (figures: BatchFigures) => number | undefined,
): GaugeReading => ({
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
): GaugeReading => ({
  name: `runsheet_batch_${name}`,
  help,
  label,
  read: (figures) => of(figures).map(([text, value]) => [{ [label]: text }, value]),
});

const loads = (name: 'outstanding' | 'waiting' | 'unsent', help: string): GaugeReading =>
  numbers(name, `${help}, by the GPU that they ask for`, 'gpu', ({ byGpu = [] }) =>
    byGpu.map((load) => [load.gpu ?? DEFAULT_GPU, load[name]]),
  );
/** Without a price the cost is unknown, which is not 0. */
const uses = (name: string, help: string, of: 'runs' | 'seconds' | 'costUsd'): GaugeReading =>
  numbers(name, help, 'gpu', ({ tally }) =>
    Object.entries(tally.gpus)
      .map(([gpu, use]) => [gpu, use[of]] as const)
      .filter(([, value]) => of !== 'costUsd' || value > 0),
  );

const READINGS: readonly GaugeReading[] = [
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
  number('slots', 'How many runs may be in flight now', ({ concurrency, slots = concurrency }) => slots),
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
    ({ budget, maxCostNano }) => budget && maxCostNano && usdOf(maxCostNano),
  ),
  number(
    'budget_spent_usd',
    'What counts as spent of the limit',
    ({ budget }) => budget && usdOf(budget.spentNano),
  ),
  number(
    'budget_reserved_usd',
    'What is reserved for runs in flight',
    ({ budget }) => budget && usdOf(budget.reservedNano),
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
