// Names that more than one part must derive alike.

/** Temporal's id for the workflow of a batch. */
export const workflowIdOf = (batch: string): string => `runsheet:${batch}`;

/** The batch behind a workflow id; undefined for workflows that are none of ours. */
export const batchOf = (workflowId: string): string | undefined =>
  workflowId.startsWith('runsheet:') ? workflowId.slice('runsheet:'.length) : undefined;

/** Workflows and the sending of groups; eager dispatch needs both on one queue. */
export const TASK_QUEUE = 'runsheet';

/** Everything that may be slow: watching, lists, files. It has slots of its own, so that slow POSTs starve nothing. */
export const workQueueOf = (taskQueue: string): string => `${taskQueue}-work`;

export const partName = (part: number): string => `parts/${String(part).padStart(6, '0')}.jsonl`;
