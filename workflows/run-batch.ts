// Runs a batch for another workflow, and waits for its end: an activity makes the batch, and a child workflow runs
// it. The id of the call finds both again, whatever was killed meanwhile.

import { ApplicationFailure, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { EndedBatch } from '../activities/await-batch.ts';
import type { Activities } from '../activities/index.ts';
import { FINDING, MAKING, runMade } from './awaited-batch.ts';
import { filesQueueOf } from './task-queues.ts';
import type { WrittenCall } from '../activities/create-batch.ts';
import type { BatchOptions } from '../src/options/generated.ts';

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
  const {
    sheet,
    taskQueue = ownQueue,
    callId = `${workflowId}/${runId}/${calls}`,
    ...batchOptions
  } = options;
  if (taskQueue === ownQueue) refuseUnknownType();
  const call = batchCallOf(sheet, callId, batchOptions);
  return runMade(taskQueue, {
    make: () => proxyActivities<Activities>({ ...intakeAt(taskQueue), ...MAKING }).createBatch(call),
    find: () =>
      proxyActivities<Activities>({ ...intakeAt(taskQueue), ...FINDING }).createBatch({
        ...call,
        findOnly: true,
      }),
  });
}

const intakeAt = (taskQueue: string) =>
  ({
    taskQueue: filesQueueOf(taskQueue),
    heartbeatTimeout: '10s',
    retry: { initialInterval: '500ms', maximumInterval: '10s' },
  }) as const;

type Bundle = { readonly importWorkflows?: () => Readonly<Record<string, unknown>> };

/** Without this check the child would silently wait for a worker that knows its type. Throws E415. */
function refuseUnknownType(): void {
  const { __TEMPORAL__: bundle } = globalThis as { readonly __TEMPORAL__?: Bundle };
  const workflows = bundle?.importWorkflows?.();
  if (workflows === undefined || typeof workflows['runsheetBatch'] === 'function') return;
  throw ApplicationFailure.nonRetryable(
    "E415: the worker of this task queue has no workflow runsheetBatch; add this line to the application's workflows: export * from 'runsheet/workflow'; or name the queue of a runsheet worker with the option taskQueue",
    'E415',
  );
}

/** The options of a batch that a workflow runs. */
export interface ChildBatchOptions extends BatchOptions {
  /** A path, or a file, http or https URL, that the worker can read. */
  readonly sheet: string;
  /**
   * Names this call: the same id always means the same batch. Default: this workflow run and the number of the call
   * in it. An id of your own, such as an order number, also finds the batch if the workflow itself is retried, reset
   * or started again.
   */
  readonly callId?: string;
  /** The task queue of a runsheet worker. Default: the queue of this workflow, whose worker has the plugin. */
  readonly taskQueue?: string;
}

export const batchCallOf = (
  sheet: string,
  callId: string,
  options: Omit<ChildBatchOptions, 'sheet' | 'callId' | 'taskQueue'>,
): WrittenCall => ({
  sheet,
  callId,
  options: Object.fromEntries(Object.entries(options).map(([option, value]) => [option, written(value)])),
});

/** Keeps values that JSON would turn into null, which would mean no limit, as text that the activity refuses. */
function written(value: unknown): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? String(value) : value;
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}
