// The figures of a batch that metrics show: of a running batch from its published progress, of an ended one from
// summary.json. They do not depend on any process, so a worker that is killed loses none of them.

import { rowsDone } from '../batch/accounting/tally.ts';
import type { Progress } from '../batch/shown/progress.ts';
import type { BatchName } from '../batch/workflow-ids.ts';
import type { Summary } from '../results/summary.ts';

/** `failed`: its workflow ended without results. */
export const BATCH_STATES = ['running', 'paused', 'cancelling', 'finished', 'failed'] as const;
type BatchState = (typeof BATCH_STATES)[number];

/** Rows without a stored outcome by phase, and the name of their count in the progress. */
export const OPEN_PHASES = {
  unsent: 'unsent',
  waiting: 'retrying',
  sending: 'sending',
  running: 'running',
  unconfirmed: 'unconfirmed',
  collecting: 'collecting',
} as const;

type Unshown = 'state' | 'batch' | 'retries' | 'pass' | 'acknowledgements';
export type BatchFigures = Omit<Progress, Unshown> & { readonly state: BatchState };

/** `isFailed`: the workflow ended, and the progress is the last one that it published. */
export const figuresOf = (progress: Progress, isFailed: boolean): BatchFigures =>
  isFailed ? { ...progress, state: 'failed', pauses: [] } : progress;

export const NOTHING_OPEN = { unsent: 0, retrying: 0, sending: 0, running: 0, unconfirmed: 0, collecting: 0 };

/** The figures of an ended batch: exactly those of its summary.json. */
export function figuresAtEnd({ outcomes, gpus, ...summary }: Summary): BatchFigures {
  const uses = Object.entries(gpus).map(
    ([gpu, { cost_usd: costUsd, ...use }]) => [gpu, { ...use, costUsd: costUsd ?? 0 }] as const,
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

export type KnownBatch = BatchName & { readonly figures: BatchFigures };
