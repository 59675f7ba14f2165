// The activities as a batch calls them, each with the time-outs and retries that fit it.

import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { BatchRef } from '../src/batch/batch-ref.ts';
import { workQueueOf } from './task-queues.ts';

/** An activity that knows its batch already. */
type Bound<F> = F extends (input: infer I) => infer R ? (input: Omit<I, keyof BatchRef>) => R : never;

export type BoundActivities = {
  readonly [K in Exclude<keyof Activities, 'loadBatch'>]: Bound<Activities[K]>;
} & {
  readonly loadBatch: () => ReturnType<Activities['loadBatch']>;
};

export function bindActivities(ref: BatchRef): BoundActivities {
  const taskQueue = workQueueOf(workflowInfo().taskQueue);
  /** R1: what may buy a run is never tried twice by Temporal. */
  const { queueRuns } = proxyActivities<Activities>({
    startToCloseTimeout: '180s',
    heartbeatTimeout: '5s',
    retry: { maximumAttempts: 1 },
    cancellationType: 'ABANDON',
  });
  const patient = {
    taskQueue,
    heartbeatTimeout: '10s',
    retry: { initialInterval: '500ms', maximumInterval: '10s' },
  } as const;
  const { loadBatch, reconcileRuns, keepEvidence } = proxyActivities<Activities>({
    ...patient,
    startToCloseTimeout: '1h',
  });
  // Files may be large and the way to them slow; heartbeats show whether there is progress.
  const { collectRows, finalizeBatch } = proxyActivities<Activities>({
    ...patient,
    startToCloseTimeout: '24h',
  });
  const { cancelRuns } = proxyActivities<Activities>({
    ...patient,
    startToCloseTimeout: '10m',
    retry: { ...patient.retry, maximumAttempts: 20 },
  });
  return {
    queueRuns: (input) => queueRuns({ ...ref, ...input }),
    loadBatch: () => loadBatch(ref),
    reconcileRuns: (input) => reconcileRuns({ ...ref, ...input }),
    keepEvidence: (input) => keepEvidence({ ...ref, ...input }),
    collectRows: (input) => collectRows({ ...ref, ...input }),
    finalizeBatch: (input) => finalizeBatch({ ...ref, ...input }),
    cancelRuns: (input) => cancelRuns({ ...ref, ...input }),
    // Each look is one try; the retries of an activity add nothing to the history.
    pollRuns: (input) =>
      proxyActivities<Activities>({
        taskQueue,
        startToCloseTimeout: '2m',
        heartbeatTimeout: '10s',
        retry: { initialInterval: input.intervalMs, backoffCoefficient: 1 },
      }).pollRuns({ ...ref, ...input }),
  };
}
