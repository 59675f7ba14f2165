// The names of the task queues.

/** The queue of workflows and of `queueRuns`; eager dispatch needs both on one queue. */
export const TASK_QUEUE = 'runsheet';

/** The queue of workflows that only workers with a tag run, and so all activities of these workflows. */
export const taggedQueueOf = (taskQueue: string, tag: string | undefined): string =>
  tag === undefined ? taskQueue : `${tag}@${taskQueue}`;

/** The queue on which workers and receivers take questions about themselves. */
export const membersQueueOf = (taskQueue: string): string => `${taskQueue}-members`;

/** The queue of slow work: polls, lists, files. It has its own activity slots, so slow POSTs cannot block it. */
export const workQueueOf = (taskQueue: string): string => `${taskQueue}-work`;
