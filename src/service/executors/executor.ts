// The port through which the run service executes runs:
//
//      accept ──▶ waits ──took──▶ in a place ──reached──▶ … ──ended──▶ (done)
//                   ▲                  │
//                   └──── lost ────────┘        cancel: from anywhere; the place is free when the machine lets go
//
// Nothing real knows its end beforehand, so an executor reports what happens as events; each is stored, and published afterwards.
// What it needs to go on after a restart is its `state`, a text that the service keeps with the run.

import type { Readable } from 'node:stream';
import type { Refusal } from '../../run-service/contract/refusal.ts';
import type { LogLine } from '../../run-service/contract/run.ts';
import type { Status } from '../../run-service/contract/statuses.ts';
import type { LiveRow, RunRow } from '../database.ts';

/** A run in memory that has not ended. */
export type LiveRun = Pick<
  RunRow,
  | 'number'
  | 'id'
  | 'deploymentId'
  | 'gpu'
  | 'webhook'
  | 'intermediate'
  | 'faults'
  | 'lostMs'
  | 'owner'
  | 'servers'
  | 'timeLimitMs'
>;

/** A deployment, and the servers that may execute a run of it. */
export type Destination = Pick<RunRow, 'deploymentId' | 'servers'>;

/** What a run does: its node, and its share from 0 to 1. `sinceMs` is the time of the last change. */
export type Work = {
  readonly liveStatus: string | null;
  readonly progress: number;
  readonly sinceMs: number;
};

export const NO_WORK: Work = { liveStatus: null, progress: 0, sinceMs: 0 };

/** The files that one node of a run has made. */
export type Output = {
  readonly node: string;
  readonly nodeClass: string;
  /** What its owner calls the node. */
  readonly nodeTitle?: string;
  /** `images`, `gifs`, `audio`, … */
  readonly key: string;
  readonly files: readonly { readonly filename: string; readonly type: string }[];
  /** Instead of files. */
  readonly texts?: readonly string[];
};

/** A file of a run as it is sent; `bytes` is its length. */
export type OutputFile = {
  readonly type: string;
  readonly bytes: number;
  readonly content: Buffer | (() => Readable);
};

/** A change of a run to publish: a new status, or progress. */
export type RunChange = {
  readonly kind: 'status' | 'progress';
  readonly status: Status;
  readonly atMs: number;
  readonly work: Work;
};

export type Reached = Omit<RunChange, 'kind'>;

/** Each is called within a transaction. */
export type ExecutorEvents = {
  /** The run has a place, on the GPU that it now has; it may wait there for others, which occupies no machine. */
  took(run: LiveRun, place: string, state: string, atMs: number, mayWait?: true): void;
  /** A later `state`, which `resume` gets. */
  keep(run: LiveRun, state: string): void;
  /** `startedMs`: when it began to execute, if it occupied no machine before. */
  reached(run: LiveRun, change: Reached, startedMs?: number): void;
  progress(run: LiveRun, change: Reached): void;
  /** `startedMs`: when it began to execute, if only its end tells. */
  ended(run: LiveRun, change: Reached, startedMs?: number): void;
  /** Its end is unknown for good; it never changes again. */
  endUnknown(run: LiveRun): void;
  /**
   * The run has lost its place after `ranMs`, which are paid for; it gets another one if it `waits`, or never changes again.
   * `executed`: it was executed there, or may have been.
   */
  lost(run: LiveRun, ranMs: number, waits: boolean, executed: boolean): void;
};

export type Census = { readonly waiting: number; readonly busy: number; readonly idle: number };

export type Executor = {
  /** Why it would not take a run with these inputs. */
  refusals(to: Destination, inputs: Readonly<Record<string, unknown>>): readonly Refusal[];
  /** Why no run can pass, wherever it could run, until a person changes something; undefined if one may. */
  blockedBy(to: Destination): string | undefined;
  /** Fulfilled when the first run has been tried, which tells whether others may come; undefined if this run may come now. */
  trial(to: Destination): Promise<void> | undefined;
  /** Takes a run; it may have a place before this returns. */
  accept(run: LiveRun): void;
  /** After a restart: all runs that had not ended, oldest first. */
  resume(rows: readonly LiveRow[]): void;
  /** The run is stored as cancelled: it leaves its place or the queue, and no event of it follows. */
  cancel(run: LiveRun): void;
  view(row: RunRow, nowMs: number): Work;
  log(row: RunRow, nowMs: number): readonly LogLine[];
  outputs(run: Pick<RunRow, 'id' | 'deploymentId' | 'state'>): readonly Output[];
  /** undefined if the run has no such file. */
  file(row: RunRow, filename: string): OutputFile | undefined;
  census(): ReadonlyMap<string, Census>;
  /** The numbers of the runs that come next, in this order. */
  ahead(most: number): readonly number[];
  close(): Promise<void>;
};
