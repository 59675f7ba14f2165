// One firing of a schedule: makes the batch of its time and runs it. It lasts as long as its batch, so that Temporal's overlap
// policies count batches that run; to cancel it cancels the batch and its runs.

import { ApplicationFailure, defineSearchAttributeKey } from '@temporalio/common';
import { executeChild, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { Progress } from '../src/batch/progress.ts';
import type { runsheetBatch } from './batch.ts';
import { childBatch } from './child-batch.ts';
import { workQueueOf } from './task-queues.ts';

type Definition = Parameters<Activities['createFiring']>[0]['definition'];
export type FiringResult = { readonly batch: string; readonly progress: Progress };

/** The time of the rule, or of a trigger; Temporal sets it. */
const NOMINAL_TIME = defineSearchAttributeKey('TemporalScheduledStartTime', 'DATETIME');

export async function runsheetFiring(definition: Definition): Promise<FiringResult> {
  const nominalTime = workflowInfo().typedSearchAttributes.get(NOMINAL_TIME)?.getTime();
  if (nominalTime === undefined)
    throw ApplicationFailure.nonRetryable('E561: no schedule has started this firing', 'E561');
  const { createFiring } = proxyActivities<Activities>({
    taskQueue: workQueueOf(workflowInfo().taskQueue),
    startToCloseTimeout: '1h',
    // A run service that stays away for a day makes the firing fail.
    scheduleToCloseTimeout: '24h',
    heartbeatTimeout: '10s',
    retry: { initialInterval: '1s', maximumInterval: '1m' },
  });
  const made = await createFiring({ definition, nominalTime });
  const progress = await executeChild<typeof runsheetBatch>('runsheetBatch', childBatch(made));
  return { batch: made.batch, progress };
}
