// The signals of a running batch, with types for both sides. A batch has no queries and no updates: with either, the SDK (1.24)
// may apply earlier events at a different time from a replay. A batch publishes its progress in its memo, which can be read
// without a worker.

import { defineSignal } from '@temporalio/workflow';
import type { AttemptRun } from '../src/batch/outcome.ts';
import type { BatchRef } from '../src/batch/workflow-ids.ts';
import type { OverdueRun, RunCompletion, UserCommand } from '../src/batch/events.ts';
import type { LimitChange } from '../src/options/limits.ts';
import type { Grant, MemberUsage } from '../src/batch/pool/messages.ts';
import type { Progress } from '../src/batch/shown/progress.ts';
import type { Snapshot } from '../src/batch/state/snapshot.ts';
import type { ShownPool } from '../src/batch/pool/pool-step.ts';

/** Confirmed run completions, at most 500 per signal. */
export const runsCompleted =
  defineSignal<[by: 'webhook' | 'poll', completions: readonly RunCompletion[]]>('runsCompleted');

/** Runs whose webhook address carries the token of an attempt. */
export const runsSeen = defineSignal<[runs: readonly AttemptRun[]]>('runsSeen');

/** Runs without progress for too long; the batch cancels them. */
export const runsOverdue = defineSignal<[runs: readonly OverdueRun[]]>('runsOverdue');

/** Whether the worker can read runs; `reason` if it cannot. */
export const serviceRead = defineSignal<[{ readonly reason?: string }]>('serviceRead');

/** Stops sending; `running` also cancels the outstanding runs. */
export const cancelBatch = defineSignal<[UserCommand & { readonly running: boolean }]>('cancel');

export const pauseBatch = defineSignal<[UserCommand]>('pause');

export const scaleBatch = defineSignal<[UserCommand & { readonly limits: LimitChange }]>('scale');

/** Ends a pause; `unconfirmed` decides about the attempts that no run list resolved. */
export const resumeBatch = defineSignal<[ResumeCommand]>('resume');
export type ResumeCommand = UserCommand & {
  readonly unconfirmed?: 'unknown' | 'fail' | 'resubmit';
  readonly limits?: LimitChange;
};

export const retryRows = defineSignal<[UserCommand & { readonly pass: number }]>('retry');

/** The pool of the batch grants slots. */
export const grantSlots = defineSignal<[Grant]>('grant');

/** Continues as new as soon as possible. */
export const refreshBatch = defineSignal<[{ readonly commandId: string }]>('refresh');

/** The memo of a batch; it has no `progress` until the batch has read its parameters. */
export type BatchMemo = {
  readonly folder: string;
  readonly encrypted?: boolean;
  readonly progress?: Progress;
};

/** The argument of a batch's workflow; Temporal keeps it, so every release can read it. */
export type BatchInput = BatchRef & {
  /** Set if the batch had ended: the pass whose rows are sent again. */
  readonly continues?: number;
  /** The version in which the batch started; see src/batch/params.ts. */
  readonly version?: number;
  /** Set by continue-as-new, and for a batch that was rebuilt. */
  readonly snapshot?: Snapshot;
};

/** Something has changed that a stage of a pipeline may wait for, or that made it fail. */
export const lookAgain = defineSignal<[{ readonly mark: string }]>('lookAgain');

export const usage = defineSignal<[MemberUsage]>('usage');

export const resizePool = defineSignal<[{ readonly commandId: string; readonly size: number }]>('resize');

/** Frees the slots of a member whose workflow no longer runs. */
export const releaseMember =
  defineSignal<[{ readonly commandId: string; readonly member: string }]>('release');

export type PoolMemo = { readonly encrypted?: boolean; readonly pool?: ShownPool };

export const poolIdOf = (pool: string): string => `runsheet-pool:${pool}`;
