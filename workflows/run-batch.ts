// Runs a batch for another workflow, and waits for its end: an activity makes the batch, and a child workflow runs it. Both are
// found again by the key of the call, whatever was killed meanwhile.

import {
  ApplicationFailure,
  CancelledFailure,
  CancellationScope,
  getExternalWorkflowHandle,
  proxyActivities,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { EndedBatch } from '../activities/await-batch.ts';
import type { NewBatch } from '../activities/create-batch.ts';
import type { Activities } from '../activities/index.ts';
import type { runsheetBatch } from './batch.ts';
import { childBatch } from './child-batch.ts';
import { batchCallOf, type ChildBatchOptions } from './batch-call.ts';
import { workQueueOf } from './task-queues.ts';

/** The content of the batch's summary.json, with its folder; `ok`: every row succeeded. */
export type BatchSummary = EndedBatch;

/** The calls of this workflow run so far; a workflow has modules of its own. */
let calls = 0;

/**
 * Makes a batch of a sheet, runs it as a child workflow, and returns its summary; rows that failed do not fail the call. If this
 * workflow is cancelled, so are the batch and its runs, and the call throws a CancelledFailure with the summary after their end.
 */
export async function runBatch(options: ChildBatchOptions): Promise<BatchSummary> {
  calls += 1;
  const { workflowId, runId, taskQueue: ownQueue } = workflowInfo();
  const { taskQueue = ownQueue, key = `${workflowId}/${runId}/${calls}` } = options;
  if (taskQueue === ownQueue) refuseUnknownType();
  const { createBatch, awaitBatch } = intakeAt(taskQueue);
  const made = await createBatch(batchCallOf(options, key));
  const { batch, mark, folder } = made;
  if (!made.hasEnded) await untilEnded(made, taskQueue);
  const isCancelled = CancellationScope.current().consideredCancelled;
  const summary = await CancellationScope.nonCancellable(() => awaitBatch({ batch, mark, folder }));
  if (isCancelled) throw new CancelledFailure(`batch ${batch} was cancelled`, [summary]);
  return summary;
}

function intakeAt(taskQueue: string): Pick<Activities, 'createBatch' | 'awaitBatch'> {
  const options = {
    taskQueue: workQueueOf(taskQueue),
    heartbeatTimeout: '10s',
    retry: { initialInterval: '500ms', maximumInterval: '10s' },
  } as const;
  const { createBatch } = proxyActivities<Activities>({ ...options, startToCloseTimeout: '2h' });
  // Each look is a retry, because retries of an activity add no events to the history.
  const { awaitBatch } = proxyActivities<Activities>({
    ...options,
    startToCloseTimeout: '1m',
    retry: { initialInterval: '2s', backoffCoefficient: 1 },
  });
  return { createBatch, awaitBatch };
}

/** Resolves when the child has ended, or if the batch was started before by a call with the same key. */
async function untilEnded(made: NewBatch, taskQueue: string): Promise<void> {
  const options = { ...childBatch(made), taskQueue };
  try {
    const child = await startChild<typeof runsheetBatch>('runsheetBatch', options);
    await child.result();
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    passCancelOn(options.workflowId);
  }
}

/** A batch that is no child of this workflow run is cancelled with it nevertheless. */
function passCancelOn(workflowId: string): void {
  const scope = CancellationScope.current();
  scope.cancelRequested.catch(() =>
    // Temporal may have forgotten the batch meanwhile.
    CancellationScope.nonCancellable(() => getExternalWorkflowHandle(workflowId).cancel()).catch(
      () => undefined,
    ),
  );
}

type Bundle = { readonly importWorkflows?: () => Readonly<Record<string, unknown>> };

/** Without this check the child would wait for a worker that knows its type, without an error. Throws E415. */
function refuseUnknownType(): void {
  const { __TEMPORAL__: bundle } = globalThis as { readonly __TEMPORAL__?: Bundle };
  const workflows = bundle?.importWorkflows?.();
  if (workflows === undefined || typeof workflows['runsheetBatch'] === 'function') return;
  throw ApplicationFailure.nonRetryable(
    "E415: the worker of this task queue has no workflow runsheetBatch; add this line to the application's workflows: export * from 'runsheet/workflow'; or name the queue of a runsheet worker with the option taskQueue",
    'E415',
  );
}
