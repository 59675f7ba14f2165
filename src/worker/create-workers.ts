// Creates the two Temporal workers of a process: one runs workflows and sends, the other does all other work.

import { Worker, type WorkerOptions } from '@temporalio/worker';
import type { Deps } from '../../activities/deps.ts';
import { createSenders, createWork } from '../../activities/index.ts';
import { workQueueOf } from '../../workflows/task-queues.ts';
import { workflowBundle } from '../temporal/bundle.ts';
import { workerConverter } from '../temporal/encryption/converter.ts';
import type { PayloadKeys } from '../temporal/encryption/payload-keys.ts';
import { identityWith } from '../temporal/encryption/worker-keys.ts';

/** Concurrent groups of all batches; a group costs almost nothing while it waits for its POSTs. */
const CONCURRENT_GROUPS = 200;
const CONCURRENT_WORK = 40;
/** Must be longer than any POST's deadline. */
const SHUTDOWN_GRACE_MS = 150_000;
const WORKFLOWS_CACHED = 100;

/** How a worker converts payloads; its identity names its keys. */
export const conversion = (keys: PayloadKeys): Pick<WorkerOptions, 'dataConverter' | 'identity'> => ({
  dataConverter: workerConverter(keys),
  identity: identityWith(keys),
});

export async function createWorkers(deps: Deps, queue: string, at: WorkerPlace): Promise<readonly Worker[]> {
  return Promise.all([
    Worker.create({
      ...at,
      ...SENDING,
      taskQueue: queue,
      workflowBundle: await workflowBundle(),
      activities: createSenders(deps),
    }),
    createWorkWorker(deps, queue, at),
  ]);
}

type WorkerPlace = Pick<
  WorkerOptions,
  'connection' | 'namespace' | 'dataConverter' | 'identity' | 'interceptors'
>;

/** The options of a worker of workflows and `queueRuns`. */
export const SENDING = {
  shutdownGraceTime: SHUTDOWN_GRACE_MS,
  maxConcurrentActivityTaskExecutions: CONCURRENT_GROUPS,
  // Eager dispatch starts groups without asking the server: +45 % rows per second, -40 % server work.
  maxEagerActivityReservationsPerWorkflowTask: 50,
  // After a worker dies, its sticky queue holds its workflows for this long.
  stickyQueueScheduleToStartTimeout: '1s',
  maxCachedWorkflows: WORKFLOWS_CACHED,
} as const;

/** The worker of all other activities. */
export const createWorkWorker = (deps: Deps, queue: string, at: WorkerPlace): Promise<Worker> =>
  Worker.create({
    ...at,
    shutdownGraceTime: SHUTDOWN_GRACE_MS,
    taskQueue: workQueueOf(queue),
    activities: createWork(deps),
    maxConcurrentActivityTaskExecutions: CONCURRENT_WORK,
    maxHeartbeatThrottleInterval: '1s',
  });
