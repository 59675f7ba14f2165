// The batch's activities, each with its timeouts and its retry policy.

import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { BatchRef } from '../src/batch/workflow-ids.ts';
import { NOTIFY_WITHIN_MS } from '../src/batch/bounds.ts';
import { filesQueueOf, workQueueOf } from './task-queues.ts';

/** An activity without the parameters that name the batch; `summary` is for Temporal's UI. */
type Bound<F> = F extends (input: infer I) => infer R
  ? (input: Omit<I, keyof BatchRef>, summary?: string) => R
  : never;

export type BoundActivities = {
  readonly [
    K in Exclude<
      keyof Activities,
      | 'awaitBatch'
      | 'awaitStage'
      | 'createBatch'
      | 'createFiring'
      | 'createStage'
      | 'loadBatch'
      | 'notifyFiring'
      | 'showPipeline'
    >
  ]: Bound<Activities[K]>;
} & {
  readonly loadBatch: (input: { readonly continues?: number }) => ReturnType<Activities['loadBatch']>;
};

export function bindActivities(ref: BatchRef): BoundActivities {
  const { taskQueue: ownQueue } = workflowInfo();
  const taskQueue = workQueueOf(ownQueue);
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
  const { collectRows } = proxyActivities<Activities>({
    ...patientOptions,
    taskQueue: filesQueueOf(ownQueue),
    startToCloseTimeout: '24h',
  });
  const { finalizeBatch } = proxyActivities<Activities>({ ...patientOptions, startToCloseTimeout: '24h' });
  const { cancelRuns } = proxyActivities<Activities>({
    ...patientOptions,
    startToCloseTimeout: '10m',
    retry: { ...patientOptions.retry, maximumAttempts: 20 },
  });
  // A notification receiver that is away delays the end of the batch by at most this.
  const { notify } = proxyActivities<Activities>({
    ...patientOptions,
    scheduleToCloseTimeout: NOTIFY_WITHIN_MS,
    startToCloseTimeout: '20s',
    retry: { initialInterval: '1s', maximumInterval: '15s' },
  });
  return {
    queueRuns: (input, summary) => queueRuns.executeWithOptions(shown(summary), [{ ...ref, ...input }]),
    loadBatch: (input) => loadBatch({ ...ref, ...input }),
    loadPass: (input, summary) => loadPass.executeWithOptions(shown(summary), [{ ...ref, ...input }]),
    reconcileRuns: (input, summary) =>
      reconcileRuns.executeWithOptions(shown(summary), [{ ...ref, ...input }]),
    keepEvidence: (input) => keepEvidence({ ...ref, ...input }),
    notify: (input, summary) => notify.executeWithOptions(shown(summary), [{ ...ref, ...input }]),
    keepLog: (input) => keepLog({ ...ref, ...input }),
    collectRows: (input, summary) => collectRows.executeWithOptions(shown(summary), [{ ...ref, ...input }]),
    finalizeBatch: (input, summary) =>
      finalizeBatch.executeWithOptions(shown(summary), [{ ...ref, ...input }]),
    cancelRuns: (input, summary) => cancelRuns.executeWithOptions(shown(summary), [{ ...ref, ...input }]),
    // Each poll is a retry, because retries of an activity add no events to the history.
    pollRuns: (input, summary) =>
      proxyActivities<Activities>({
        taskQueue,
        startToCloseTimeout: '2m',
        heartbeatTimeout: '10s',
        retry: { initialInterval: input.intervalMs, backoffCoefficient: 1 },
        ...shown(summary),
      }).pollRuns({ ...ref, ...input }),
  };
}

const shown = (summary: string | undefined): { readonly summary?: string } =>
  summary === undefined ? {} : { summary };
