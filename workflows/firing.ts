// One firing of a schedule: makes the batch of its time and runs it. It lasts as long as its batch, so that Temporal's overlap
// policies count batches that run; to cancel it cancels the batch and its runs.

import { ApplicationFailure, defineSearchAttributeKey } from '@temporalio/common';
import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { EndedBatch } from '../activities/await-batch.ts';
import type { Activities } from '../activities/index.ts';
import { FINDING, MAKING, runMade } from './awaited-batch.ts';
import { FiringNews } from './firing-news.ts';
import { filesQueueOf } from './task-queues.ts';

type Definition = Parameters<Activities['createFiring']>[0]['definition'];

/** The time of the rule, or of a trigger; Temporal sets it. */
const NOMINAL_TIME = defineSearchAttributeKey('TemporalScheduledStartTime', 'DATETIME');

export async function runsheetFiring(definition: Definition): Promise<EndedBatch> {
  const nominalTime = workflowInfo().typedSearchAttributes.get(NOMINAL_TIME)?.getTime();
  if (nominalTime === undefined)
    throw ApplicationFailure.nonRetryable('E561: no schedule has started this firing', 'E561');
  const { taskQueue } = workflowInfo();
  const options = {
    taskQueue: filesQueueOf(taskQueue),
    heartbeatTimeout: '10s',
    retry: { initialInterval: '1s', maximumInterval: '1m' },
  } as const;
  const input = { definition, nominalTime };
  // A run service that stays away for a day makes the firing fail.
  const making = { ...options, ...MAKING, scheduleToCloseTimeout: '24h' } as const;
  const news = new FiringNews(taskQueue, input);
  try {
    return await runMade(taskQueue, {
      make: () => news.of(proxyActivities<Activities>(making).createFiring(input)),
      find: () =>
        proxyActivities<Activities>({ ...options, ...FINDING }).createFiring({ ...input, findOnly: true }),
    });
  } finally {
    await news.sent();
  }
}
