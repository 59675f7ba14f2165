// A firing of a schedule: makes the batch of its time and runs it. A firing lasts as long as its batch, so that
// Temporal's overlap policies count batches that run; cancelling it cancels the batch and its runs.

import { ApplicationFailure, defineSearchAttributeKey } from '@temporalio/common';
import { CancellationScope, isCancellation, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { EndedBatch } from '../activities/await-batch.ts';
import type { Activities } from '../activities/index.ts';
import { NOTIFY_WITHIN_MS } from '../src/batch/bounds.ts';
import { errorsOf, type FiringFailure } from '../src/batch/notices/schedule-notice.ts';
import { FINDING, MAKING, runMade } from './awaited-batch.ts';
import { filesQueueOf, workQueueOf } from './task-queues.ts';

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
  return runMade(taskQueue, {
    make: () =>
      proxyActivities<Activities>({ ...options, ...MAKING })
        .createFiring(input)
        .catch(async (error: unknown) => failed(taskQueue, input, error)),
    find: () =>
      proxyActivities<Activities>({ ...options, ...FINDING }).createFiring({ ...input, findOnly: true }),
  });
}

/** The firing was refused because a stranger may have caused it, and could then cause the notification as well. */
const REFUSED = 'E561';

type Firing = Omit<Parameters<Activities['createFiring']>[0], 'findOnly'>;

/** Tells the targets of a schedule that a firing made no batch, which no batch could report, and throws the cause. */
async function failed(taskQueue: string, firing: Firing, cause: unknown): Promise<never> {
  const { notify: targets = [] } = firing.definition.request.settings;
  const errors = isCancellation(cause) ? [] : errorsOf(cause as FiringFailure);
  const [first] = errors;
  if (first === undefined || first.code === REFUSED) throw cause;
  const { notifyFiring } = proxyActivities<Activities>({
    taskQueue: workQueueOf(taskQueue),
    heartbeatTimeout: '10s',
    startToCloseTimeout: '20s',
    scheduleToCloseTimeout: NOTIFY_WITHIN_MS,
    retry: { initialInterval: '1s', maximumInterval: '15s' },
  });
  const at = Date.now();
  // A notification that cannot be delivered is not the reason why a firing fails.
  await CancellationScope.nonCancellable(() =>
    Promise.allSettled(targets.map((to) => notifyFiring({ ...firing, notice: { errors, to, at } }))),
  );
  throw cause;
}
