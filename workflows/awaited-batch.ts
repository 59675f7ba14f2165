// Runs the batch that an activity makes as a child of this workflow, and waits for its end. Once made, a batch is
// always started, even if this workflow is cancelled meanwhile, so that each of its rows gets an outcome.

import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  CancellationScope,
  CancelledFailure,
  type ChildWorkflowOptions,
  getExternalWorkflowHandle,
  isCancellation,
  ParentClosePolicy,
  proxyActivities,
  startChild,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import type { EndedBatch } from '../activities/await-batch.ts';
import type { NewBatch } from '../activities/create-batch.ts';
import type { Activities } from '../activities/index.ts';
import { WORKFLOW_TASK_MS } from '../src/batch/bounds.ts';
import { workflowIdOf } from '../src/batch/workflow-ids.ts';
import type { runsheetBatch } from './batch-workflow.ts';
import type { BatchInput, BatchMemo } from './signals.ts';
import { workQueueOf } from './task-queues.ts';

type BatchMaking = {
  /** An activity that waits for its own end when it is cancelled. */
  readonly make: () => Promise<NewBatch | undefined>;
  /** Finds the batch that `make` has made, and makes none. */
  readonly find: () => Promise<NewBatch | undefined>;
};

/**
 * Only the activity knows whether the batch exists, so a cancellation waits for its answer. An outage of a day fails
 * the workflow that wanted the batch (R34).
 */
export const MAKING = {
  startToCloseTimeout: '2h',
  scheduleToCloseTimeout: '24h',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
} as const;

/** A batch that is not found in this time was never started, and buys nothing. */
export const FINDING = { startToCloseTimeout: '1m', scheduleToCloseTimeout: '10m' } as const;

/** Throws a CancelledFailure with the summary if this workflow was cancelled; by then the batch and its runs have ended. */
export async function runMade(taskQueue: string, making: BatchMaking): Promise<EndedBatch> {
  const made = await madeBy(making);
  const caller = CancellationScope.current();
  return CancellationScope.nonCancellable(async () => {
    if (!made.hasEnded) await untilEnded(made, taskQueue, caller);
    const { batch, mark, folder } = made;
    const summary = await awaitBatchAt(taskQueue)({ batch, mark, folder });
    if (caller.consideredCancelled) throw new CancelledFailure(`batch ${batch} was cancelled`, [summary]);
    return summary;
  });
}

async function madeBy({ make, find }: BatchMaking): Promise<NewBatch> {
  try {
    return present(await make());
  } catch (error) {
    if (!isCancellation(error)) throw error;
    // The activity may have made the batch before the cancellation reached it, or its worker was killed after that.
    const made = await CancellationScope.nonCancellable(find).catch(() => undefined);
    if (made === undefined) throw error;
    return made;
  }
}

function present(made: NewBatch | undefined): NewBatch {
  if (made === undefined) throw new TypeError('an activity that makes a batch returned none');
  return made;
}

/** Each check is a retry, because retries of an activity add no events to the history. */
const awaitBatchAt = (taskQueue: string): Activities['awaitBatch'] =>
  proxyActivities<Activities>({
    taskQueue: workQueueOf(taskQueue),
    heartbeatTimeout: '10s',
    startToCloseTimeout: '1m',
    retry: { initialInterval: '2s', backoffCoefficient: 1 },
  }).awaitBatch;

/** Resolves when the child has ended, or immediately if the batch was started before. */
async function untilEnded(made: NewBatch, taskQueue: string, caller: CancellationScope): Promise<void> {
  const options = { ...childBatch(made), taskQueue };
  const child = await startChild<typeof runsheetBatch>('runsheetBatch', options).catch((error: unknown) => {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  });
  // A child that is cancelled before it starts would never start, and a batch that another workflow started is no
  // child.
  caller.cancelRequested.catch(() =>
    // Temporal may have forgotten the batch meanwhile.
    CancellationScope.nonCancellable(() => getExternalWorkflowHandle(options.workflowId).cancel()).catch(
      () => undefined,
    ),
  );
  await child?.result();
}

/**
 * The options with which another workflow runs a batch as its child: under the id that makes it unique, and cancelled
 * with its parent.
 */
function childBatch(made: NewBatch) {
  const { version, encrypted, batch, mark, folder } = made;
  // The receiver of any worker reads the batch's folder from the memo.
  const memo = { folder, ...(encrypted ? { encrypted } : {}) } satisfies BatchMemo;
  const input: BatchInput = { batch, mark, folder, version };
  return {
    workflowId: workflowIdOf({ batch, mark }),
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    workflowTaskTimeout: WORKFLOW_TASK_MS,
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    memo,
    staticSummary: made.summary,
    staticDetails: made.details,
    typedSearchAttributes: [...made.searchAttributes],
    args: [input],
  } satisfies ChildWorkflowOptions & { readonly args: readonly [BatchInput] };
}
