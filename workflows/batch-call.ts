// The options of a batch that a workflow awaits, as the JSON that the activity reads.

import type { WrittenCall } from '../activities/create-batch.ts';
import type { BatchOptions } from '../src/options/generated.ts';

/** What a batch of a workflow is. */
export interface ChildBatchOptions extends BatchOptions {
  /** A path, or a file, http or https URL, that the worker can read. */
  readonly sheet: string;
  /**
   * Names this call: the same id always means the same batch. Default: this workflow run and the number of the call in it. An id of
   * your own, such as the number of an order, also finds the batch if the workflow itself is retried, reset or started again.
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

/** JSON makes null of these, which would mean no limit; the activity refuses their text. */
function written(value: unknown): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? String(value) : value;
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}
