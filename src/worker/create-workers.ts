// Creates the three Temporal workers of a process, each with slots of its own: one runs workflows and sends, one exchanges
// messages, and one waits for files of other hosts.

import { Worker, type WorkerOptions } from '@temporalio/worker';
import type { Deps } from '../../activities/deps.ts';
import { createFiles, createSenders, createWork } from '../../activities/index.ts';
import { filesQueueOf, workQueueOf } from '../../workflows/task-queues.ts';
import type { MemberSettings } from '../host/settings/member-settings.ts';
import { version } from '../host/package-version.ts';
import { workflowBundle } from '../temporal/bundle.ts';
import { onlyFirstTry, onlyOnce } from '../temporal/activity-guards.ts';
import { noteEnd, onlyOwnInput } from '../temporal/encryption/own-payloads.ts';
import { failuresFor } from '../temporal/encryption/converter.ts';
import { workerEncryptionWith } from '../temporal/encryption/worker-codec.ts';
import type { PayloadKeys } from '../temporal/encryption/payload-keys.ts';
import { identityWith } from '../temporal/encryption/worker-keys.ts';

/**
 * Concurrent activities of all batches. A waiting activity costs almost nothing, so there are slots for everything
 * that many batches with a slow service or file host may have in flight: a fast batch beside them needs one slot of
 * each kind. The batches of one worker have at most 64 groups, 12 polls and 8 parts each (src/batch/bounds.ts);
 * activities/download-slots.ts limits how many files are downloaded at a time.
 */
const CONCURRENT_GROUPS = 1_000;
const CONCURRENT_WORK = 300;
const CONCURRENT_FILES = 800;
/**
 * The share of the drain time for work that another worker repeats without harm, such as a download, so that it
 * restarts soon.
 */
const WORK_SHARE = 0.5;
const WORKFLOWS_CACHED = 100;

/** How a worker converts payloads; its identity names its keys and contains these parts. */
export const conversion = (keys: PayloadKeys, ...parts: readonly string[]) => ({
  dataConverter: { ...failuresFor(keys), payloadCodecs: [workerEncryptionWith(keys)] },
  identity: identityWith(keys, ...parts),
});

/** The guards that run before any activity of ours. */
export const activityGuards = (keys: PayloadKeys) => [noteEnd, onlyFirstTry, onlyOwnInput(keys), onlyOnce];

/** `drainMs`: how long the workers wait for unfinished work when they are shut down. */
export async function createWorkers(
  deps: Deps,
  queue: string,
  at: WorkerPlace,
  drainMs: number,
): Promise<readonly Worker[]> {
  const bundle = await workflowBundle();
  return Promise.all([
    Worker.create({
      ...at,
      ...SENDING,
      shutdownGraceTime: drainMs,
      taskQueue: queue,
      workflowBundle: bundle,
      activities: createSenders(deps),
    }),
    ...createOtherWorkers(deps, queue, at, drainMs),
  ]);
}

type WorkerPlace = Pick<
  WorkerOptions,
  'connection' | 'namespace' | 'dataConverter' | 'identity' | 'interceptors' | 'workerDeploymentOptions'
>;

/**
 * The version of a worker in its Worker Deployment. A batch moves to the current version with its next task, because
 * every release continues the batches of the previous one, and a batch may last longer than anybody wants to keep old
 * workers.
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

/** The workers of all other activities: one for exchanging messages, one for waiting for files. */
export const createOtherWorkers = (
  deps: Deps,
  queue: string,
  at: WorkerPlace,
  drainMs: number,
): readonly Promise<Worker>[] => {
  const shared = {
    ...at,
    shutdownGraceTime: drainMs * WORK_SHARE,
    maxHeartbeatThrottleInterval: '1s',
  } as const;
  return [
    Worker.create({
      ...shared,
      taskQueue: workQueueOf(queue),
      activities: createWork(deps),
      maxConcurrentActivityTaskExecutions: CONCURRENT_WORK,
    }),
    Worker.create({
      ...shared,
      taskQueue: filesQueueOf(queue),
      activities: createFiles(deps),
      maxConcurrentActivityTaskExecutions: CONCURRENT_FILES,
    }),
  ];
};

/** Whether the task queue belongs to one of these workers. */
export const isOtherQueue = (taskQueue: string, queue: string): boolean =>
  [workQueueOf(queue), filesQueueOf(queue)].includes(taskQueue);
