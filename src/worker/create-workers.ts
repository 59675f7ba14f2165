// Creates the Temporal workers of a process, two for each queue of batches: one runs workflows and sends, the other does all other
// work. A worker with tags has a queue for each of them beside the one without.

import { Worker, type WorkerOptions } from '@temporalio/worker';
import type { Deps } from '../../activities/deps.ts';
import { createMember, type Member } from '../../activities/describe-member.ts';
import { createSenders, createWork } from '../../activities/index.ts';
import { membersQueueOf, workQueueOf } from '../../workflows/task-queues.ts';
import type { MemberSettings } from '../host/member-settings.ts';
import { version } from '../host/package-version.ts';
import type { Store } from '../store/store.ts';
import { workflowBundle } from '../temporal/bundle.ts';
import { workerConverter } from '../temporal/encryption/converter.ts';
import type { PayloadKeys } from '../temporal/encryption/payload-keys.ts';
import { identityWith } from '../temporal/encryption/worker-keys.ts';

/** Concurrent groups of all batches; a group costs almost nothing while it waits for its POSTs. */
const CONCURRENT_GROUPS = 200;
const CONCURRENT_WORK = 40;
/** Work that another worker repeats without harm, such as a download, gets a part of the time, so that it starts again soon. */
const WORK_SHARE = 0.5;
const WORKFLOWS_CACHED = 100;

/** How a worker converts payloads; its identity names its keys and has these parts. */
export const conversion = (keys: PayloadKeys, ...parts: readonly string[]) => ({
  dataConverter: workerConverter(keys),
  identity: identityWith(keys, ...parts),
});

/** `drainMs`: how long they wait for what they have begun when they are shut down. */
export async function createWorkers(
  deps: Deps,
  queues: readonly string[],
  at: WorkerPlace,
  drainMs: number,
): Promise<readonly Worker[]> {
  const bundle = await workflowBundle();
  return Promise.all(
    queues.flatMap((queue) => [
      Worker.create({
        ...at,
        ...SENDING,
        shutdownGraceTime: drainMs,
        taskQueue: queue,
        workflowBundle: bundle,
        activities: createSenders(deps),
      }),
      createWorkWorker(deps, queue, at, drainMs),
    ]),
  );
}

type WorkerPlace = Pick<
  WorkerOptions,
  'connection' | 'namespace' | 'dataConverter' | 'identity' | 'interceptors' | 'workerDeploymentOptions'
>;

/**
 * The version of a worker in its Worker Deployment. A batch moves to the current version with its next task, because every release
 * continues the batches of the one before; it may last longer than anybody wants to keep old workers.
 */
export const deploymentOf = ({
  deployment,
  build = version,
}: MemberSettings): Pick<WorkerOptions, 'workerDeploymentOptions'> =>
  deployment === undefined
    ? {}
    : {
        workerDeploymentOptions: {
          version: { deploymentName: deployment, buildId: build },
          useWorkerVersioning: true,
          defaultVersioningBehavior: 'AUTO_UPGRADE',
        },
      };

/** The options of a worker of workflows and `queueRuns`. */
export const SENDING = {
  maxConcurrentActivityTaskExecutions: CONCURRENT_GROUPS,
  // Eager dispatch starts groups without asking the server: +45 % rows per second, -40 % server work.
  maxEagerActivityReservationsPerWorkflowTask: 50,
  // After a worker dies, its sticky queue holds its workflows for this long.
  stickyQueueScheduleToStartTimeout: '1s',
  maxCachedWorkflows: WORKFLOWS_CACHED,
} as const;

/** The worker that takes questions about this process, one at a time. Belongs to no deployment: every member is asked. */
export const createMemberWorker = (
  member: Member,
  batches: Store,
  { queue, ...at }: Omit<WorkerPlace, 'workerDeploymentOptions'> & { readonly queue: string },
): Promise<Worker> =>
  Worker.create({
    ...at,
    taskQueue: membersQueueOf(queue),
    activities: createMember(member, batches),
    maxConcurrentActivityTaskExecutions: 1,
  });

/** The worker of all other activities. */
export const createWorkWorker = (
  deps: Deps,
  queue: string,
  at: WorkerPlace,
  drainMs: number,
): Promise<Worker> =>
  Worker.create({
    ...at,
    shutdownGraceTime: drainMs * WORK_SHARE,
    taskQueue: workQueueOf(queue),
    activities: createWork(deps),
    maxConcurrentActivityTaskExecutions: CONCURRENT_WORK,
    maxHeartbeatThrottleInterval: '1s',
  });
