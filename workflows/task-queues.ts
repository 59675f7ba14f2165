// The names of the task queues.

/** The queue of workflows and of `queueRuns`; eager dispatch needs both on one queue. */
export const TASK_QUEUE = 'runsheet';

/** The queue on which workers and receivers take questions about themselves. */
export const membersQueueOf = (taskQueue: string): string => `${taskQueue}-members`;

/** The queue of what exchanges messages: polls, lists, logs, notifications. It has its own slots, so slow POSTs cannot block it. */
export const workQueueOf = (taskQueue: string): string => `${taskQueue}-work`;

/** The queue of what waits for files of other hosts, outputs and sheets: however slow they are, no message waits for them. */
export const filesQueueOf = (taskQueue: string): string => `${taskQueue}-files`;
