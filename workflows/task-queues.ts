// The names of the task queues.

/** The queue of workflows and of `queueRuns`; eager dispatch needs both on one queue. */
export const TASK_QUEUE = 'runsheet';

/** The queue on which workers and receivers take questions about themselves. */
export const membersQueueOf = (taskQueue: string): string => `${taskQueue}-members`;

/**
 * The queue of activities that exchange messages: polls, lists, logs, notifications. Its own slots keep slow POSTs
 * from blocking it.
 */
export const workQueueOf = (taskQueue: string): string => `${taskQueue}-work`;

/**
 * The queue of activities that wait for files of other hosts, outputs and sheets: however slow these are, no message
 * waits for them.
 */
export const filesQueueOf = (taskQueue: string): string => `${taskQueue}-files`;
