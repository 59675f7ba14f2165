// What a running batch can be told, typed once for both sides: signals only, and nothing asks a batch. What it says of its
// progress is in its memo, where it can be read without a worker. A query that waits for a worker which takes over, and an
// update, make the SDK (1.24) apply the events before it at another time than every replay does.

import { defineSignal } from '@temporalio/workflow';
import type { AttemptRun } from '../src/batch/attempt.ts';
import type { OverdueRun, RunCompletion } from '../src/batch/events.ts';
import type { Progress } from '../src/batch/progress.ts';

/** Confirmed ends of runs, at most 500 a signal. */
export const runsCompleted =
  defineSignal<[by: 'webhook' | 'poll', completions: readonly RunCompletion[]]>('runsCompleted');

/** Runs that carry the token of an attempt. */
export const runsSeen = defineSignal<[runs: readonly AttemptRun[]]>('runsSeen');

/** Runs that made no progress for too long: the batch cancels them. */
export const runsOverdue = defineSignal<[runs: readonly OverdueRun[]]>('runsOverdue');

/** Whether runs can be read; `reason` if not. */
export const serviceRead = defineSignal<[{ readonly reason?: string }]>('serviceRead');

/** Sends nothing more; `running` also cancels the runs that are outstanding. */
export const cancelBatch =
  defineSignal<[{ readonly running: boolean; readonly commandId: string }]>('cancel');

/** Goes on after a pause; `unconfirmed` decides about the attempts that no list resolved. */
export const resumeBatch = defineSignal<[ResumeCommand]>('resume');
export type ResumeCommand = {
  readonly unconfirmed?: 'unknown' | 'fail' | 'resubmit';
  readonly commandId: string;
};

/** Continues as new as soon as possible. */
export const refreshBatch = defineSignal<[{ readonly commandId: string }]>('refresh');

/** The memo of a batch; without `progress` until it has read its parameters. */
export type BatchMemo = {
  readonly folder: string;
  readonly encrypted?: boolean;
  readonly progress?: Progress;
};
