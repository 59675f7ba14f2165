// How another workflow runs a batch as its child: under the id that makes it unique, and cancelled with its parent.

import { ParentClosePolicy, WorkflowIdReusePolicy, type ChildWorkflowOptions } from '@temporalio/workflow';
import type { NewBatch } from '../activities/create-batch.ts';
import { WORKFLOW_TASK_MS } from '../src/batch/bounds.ts';
import { workflowIdOf } from '../src/batch/workflow-ids.ts';
import type { BatchInput } from './batch-input.ts';
import type { BatchMemo } from './signals.ts';

export function childBatch(made: NewBatch) {
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
    staticSummary: made.summary ?? batch,
    ...(made.details === undefined ? {} : { staticDetails: made.details }),
    typedSearchAttributes: [...(made.searchAttributes ?? [])],
    args: [input],
  } satisfies ChildWorkflowOptions & { readonly args: readonly [BatchInput] };
}
