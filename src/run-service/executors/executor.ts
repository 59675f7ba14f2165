// The port through which the run service executes runs:
//
//      accept ──▶ waits ──took──▶ in a place ──reached──▶ … ──ended──▶ (done)
//                   ▲                  │
//                   └──── lost ────────┘        cancel: from anywhere; the place is free when the machine lets go
//
// Real executors cannot know the end of a run beforehand, so they report events, which the service stores and
// then publishes. The service stores an executor's `state`, a text, with the run; the executor resumes from
// it after a restart.

import type { Readable } from 'node:stream';
import type { Refusal } from '../../service-client/contract/refusal.ts';
import type { LogLine } from '../../service-client/contract/run.ts';
import type { Status } from '../../service-client/contract/statuses.ts';
import type { LiveRow, RunRow } from '../database.ts';

/** An unfinished run in memory. */
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

/** The current node and progress of a run, from 0 to 1. `sinceMs` is the time of the last change. */
export type RunWork = {
  readonly liveStatus: string | null;
  readonly progress: number;
  readonly sinceMs: number;
};

export const NO_WORK: RunWork = { liveStatus: null, progress: 0, sinceMs: 0 };

/** The files that one node of a run produced. */
export type Output = {
  readonly node: string;
  readonly nodeClass: string;
  /** The node's title in the workflow. */
  readonly nodeTitle?: string;
  /** `images`, `gifs`, `audio`, … */
  readonly key: string;
  readonly files: readonly { readonly filename: string; readonly type: string }[];
  /** Texts that the node produced instead of files. */
  readonly texts?: readonly string[];
};

/** A file of a run, ready to send; `bytes` is its length. */
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
  readonly work: RunWork;
};

export type Reached = Omit<RunChange, 'kind'>;

/** Every event is raised within a transaction. */
export type ExecutorEvents = {
  /** The run has a place on the GPU that it names now. With `mayWait` it may queue there, which occupies no machine. */
  took(run: LiveRun, place: string, state: string, atMs: number, mayWait?: true): void;
  /** Stores a newer `state` for `resume`. */
  keep(run: LiveRun, state: string): void;
  /** `startedMs`: when the run began to execute, if it occupied no machine before. */
  reached(run: LiveRun, change: Reached, startedMs?: number): void;
  progress(run: LiveRun, change: Reached): void;
  /** `startedMs`: when the run began to execute, if only its end reveals it. */
  ended(run: LiveRun, change: Reached, startedMs?: number): void;
  /** The run's end is unknown for good, and the run never changes again. */
  endUnknown(run: LiveRun): void;
  /**
   * The run lost its place after `ranMs`, which are billed. If it `waits`, it gets another place; otherwise
   * it never changes again. `executed`: the run executed there, or may have.
   */
  lost(run: LiveRun, ranMs: number, waits: boolean, executed: boolean): void;
};

export type Census = { readonly waiting: number; readonly busy: number; readonly idle: number };

export type Executor = {
  /** Why the executor would refuse a run with these inputs. */
  refusals(to: Destination, inputs: Readonly<Record<string, unknown>>): readonly Refusal[];
  /** Why no run can execute on any server until a person changes something; undefined if some run may. */
  blockedBy(to: Destination): string | undefined;
  /** Resolves once the trial run has shown whether other runs may follow; undefined if this run may start now. */
  trial(to: Destination): Promise<void> | undefined;
  /** Takes a run, which may get a place before this returns. */
  accept(run: LiveRun): void;
  /** Called after a restart with all unfinished runs, oldest first. */
  resume(rows: readonly LiveRow[]): void;
  /** Called when the run is stored as cancelled. The run leaves its place or the queue and raises no further event. */
  cancel(run: LiveRun): void;
  view(row: RunRow, nowMs: number): RunWork;
  log(row: RunRow, nowMs: number): readonly LogLine[];
  outputs(run: Pick<RunRow, 'id' | 'deploymentId' | 'state'>): readonly Output[];
  /** The cost of a run in nano-dollars, if somebody tells; the cost of other runs follows from prices. */
  costNano?(run: Pick<RunRow, 'deploymentId' | 'state'>): number | undefined;
  /** undefined if the run has no such file. */
  file(row: RunRow, filename: string): OutputFile | undefined;
  census(): ReadonlyMap<string, Census>;
  /** The numbers of the runs that start next, in this order. */
  ahead(most: number): readonly number[];
  close(): Promise<void>;
};
