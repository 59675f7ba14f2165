// The batch's activities, each with its timeouts and its retry policy.

import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { BatchRef } from '../src/batch/batch-ref.ts';
import { workQueueOf } from './task-queues.ts';

/** An activity without the parameters that name the batch. */
type Bound<F> = F extends (input: infer I) => infer R ? (input: Omit<I, keyof BatchRef>) => R : never;

export type BoundActivities = {
  readonly [K in Exclude<keyof Activities, 'createBatch' | 'createFiring' | 'loadBatch'>]: Bound<
    Activities[K]
  >;
} & {
  readonly loadBatch: (input: { readonly continues?: number }) => ReturnType<Activities['loadBatch']>;
};

export function bindActivities(ref: BatchRef): BoundActivities {
  const taskQueue = workQueueOf(workflowInfo().taskQueue);
  /** R1: Temporal must never retry an activity that may buy a run. */
  const { queueRuns } = proxyActivities<Activities>({
    startToCloseTimeout: '180s',
    heartbeatTimeout: '5s',
    retry: { maximumAttempts: 1 },
    // A group that is stopped still ends with its results.
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  });
  const patientOptions = {
    taskQueue,
    heartbeatTimeout: '10s',
    retry: { initialInterval: '500ms', maximumInterval: '10s' },
  } as const;
  const { loadBatch, loadPass, reconcileRuns, keepEvidence, keepLog } = proxyActivities<Activities>({
    ...patientOptions,
    startToCloseTimeout: '1h',
  });
  // Files may be large and the network slow; heartbeats show whether there is progress.
  const { collectRows, finalizeBatch } = proxyActivities<Activities>({
    ...patientOptions,
    startToCloseTimeout: '24h',
  });
  const { cancelRuns } = proxyActivities<Activities>({
    ...patientOptions,
    startToCloseTimeout: '10m',
    retry: { ...patientOptions.retry, maximumAttempts: 20 },
  });
  return {
    queueRuns: (input) => queueRuns({ ...ref, ...input }),
    loadBatch: (input) => loadBatch({ ...ref, ...input }),
    loadPass: (input) => loadPass({ ...ref, ...input }),
    reconcileRuns: (input) => reconcileRuns({ ...ref, ...input }),
    keepEvidence: (input) => keepEvidence({ ...ref, ...input }),
    keepLog: (input) => keepLog({ ...ref, ...input }),
    collectRows: (input) => collectRows({ ...ref, ...input }),
    finalizeBatch: (input) => finalizeBatch({ ...ref, ...input }),
    cancelRuns: (input) => cancelRuns({ ...ref, ...input }),
    // Each poll is a retry, because retries of an activity add no events to the history.
    pollRuns: (input) =>
      proxyActivities<Activities>({
        taskQueue,
        startToCloseTimeout: '2m',
        heartbeatTimeout: '10s',
        retry: { initialInterval: input.intervalMs, backoffCoefficient: 1 },
      }).pollRuns({ ...ref, ...input }),
  };
}
