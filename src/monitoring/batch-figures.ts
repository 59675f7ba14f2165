// The figures of a batch that metrics show: of a running batch from its published progress, of an ended one from summary.json.
// They do not depend on any process, so a worker that is killed loses none of them.

import type { RequestLedger } from '../batch/accounting/request-ledger.ts';
import type { GpuUse } from '../batch/accounting/tally.ts';
import type { GpuLoad } from '../batch/gpu-load.ts';
import { OUTCOMES, type OutcomeCounts } from '../batch/outcome.ts';
import type { PauseKind } from '../batch/pausing/pause-kinds.ts';
import type { Progress } from '../batch/shown/progress.ts';
import type { Summary } from '../results/summary.ts';

/** `failed`: its workflow ended without results. */
export const BATCH_STATES = ['running', 'paused', 'cancelling', 'finished', 'failed'] as const;
type BatchState = (typeof BATCH_STATES)[number];

export const OPEN_PHASES = ['unsent', 'waiting', 'sending', 'running', 'unconfirmed', 'collecting'] as const;
type OpenPhase = (typeof OPEN_PHASES)[number];

export const REQUEST_RESULTS = ['accepted', 'rejected', 'throttled', 'blocked', 'unconfirmed'] as const;

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
