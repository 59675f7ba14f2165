// What a running batch can be told, typed once for both sides. All of it are signals, and nothing is asked: what a batch says
// of itself is in its memo, where anybody reads it without a worker. A query that waits for a worker which takes over, and an
// update, make the SDK (1.24) live through the events before it at another time than every replay does.

import { defineSignal } from '@temporalio/workflow';
import type { End, Overdue, Seen } from '../src/batch/messages.ts';
import type { BatchView } from '../src/batch/view.ts';

/** Confirmed ends of runs, at most 500 a signal; `by` says whether a webhook or a look told them. */
export const runsEnded = defineSignal<[by: 'webhook' | 'look', ends: readonly End[]]>('runsEnded');

/** Runs that carry the token of an attempt. */
export const runsSeen = defineSignal<[seen: readonly Seen[]]>('runsSeen');

/** Runs that take too long: the batch cancels them. */
export const runsOverdue = defineSignal<[runs: readonly Overdue[]]>('runsOverdue');

/** Whether the service could be read; `reason` where not. */
export const serviceRead = defineSignal<[told: { readonly reason?: string }]>('serviceRead');

/** Sends nothing more; `running` also cancels the runs that are outstanding. */
export const cancelBatch =
  defineSignal<[order: { readonly running: boolean; readonly order: string }]>('cancel');

/** Goes on after a pause; `uncertain` decides about the attempts that nobody knows of. */
export const resumeBatch = defineSignal<[order: ResumeOrder]>('resume');
export type ResumeOrder = { readonly uncertain?: 'unknown' | 'fail' | 'resubmit'; readonly order: string };

/** The memo of a batch; without `view` until it has read its order. */
export type BatchMemo = { readonly folder: string; readonly encrypted?: boolean; readonly view?: BatchView };
