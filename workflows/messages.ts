// What a running batch can be told and asked, typed once for both sides.

import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { End, Overdue, Seen } from '../src/batch/messages.ts';
import type { BatchView } from '../src/batch/view.ts';
import type { Watch } from '../src/batch/watching.ts';

/** Confirmed ends of runs, at most 500 a signal; `by` says whether a webhook or a look told them. */
export const runsEnded = defineSignal<[by: 'webhook' | 'look', ends: readonly End[]]>('runsEnded');

/** Runs that carry the token of an attempt. */
export const runsSeen = defineSignal<[seen: readonly Seen[]]>('runsSeen');

/** Runs that take too long: the batch cancels them. */
export const runsOverdue = defineSignal<[runs: readonly Overdue[]]>('runsOverdue');

/** Whether the service could be read; `reason` where not. */
export const serviceRead = defineSignal<[told: { readonly reason?: string }]>('serviceRead');

/** undefined until the batch has read its order. */
export const viewQuery = defineQuery<BatchView | undefined>('view');

/** The runs to look at, and when to look again. */
export const watchQuery = defineQuery<Watch | undefined>('watch');

/** Sends nothing more; `running` also cancels the runs that are outstanding. */
export const cancelUpdate = defineUpdate<BatchView, [{ readonly running: boolean }]>('cancel');

/** Goes on after a pause; `uncertain` decides about the attempts that nobody knows of. */
export const resumeUpdate = defineUpdate<BatchView, [ResumeOrder]>('resume');
export type ResumeOrder = { readonly uncertain?: 'unknown' | 'fail' | 'resubmit' };
