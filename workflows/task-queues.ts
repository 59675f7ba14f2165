// The task queues of a worker and of everything that speaks to it.

/** Workflows and the sending of groups; eager dispatch needs both on one queue. */
export const TASK_QUEUE = 'runsheet';

/** Everything that may be slow: polls, lists, files. It has slots of its own, so that slow POSTs starve nothing. */
export const workQueueOf = (taskQueue: string): string => `${taskQueue}-work`;
