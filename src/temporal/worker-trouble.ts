// The fault that keeps the workers of a batch from their work, as Temporal records it: they take tasks and fail them
// repeatedly.

import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { decodeOptionalFailureToOptionalError } from '@temporalio/common/lib/internal-non-workflow/index.js';
import type proto from '@temporalio/proto';

type RawDescription = WorkflowExecutionDescription['raw'];
type ProtoFailure = proto.temporal.api.failure.v1.IFailure | null | undefined;

export type WorkerTrouble = {
  readonly reason: string;
  /** The worker that failed last, by its process and its machine. */
  readonly worker?: string | undefined;
};

/** A single failure is retried, and says nothing. */
const MIN_TRIES = 2;
/** Ours is the first word; an application adds its own name for a worker after it. */
const nameIn = (identity: string | null | undefined): string | undefined => identity?.split(' ')[0];

/** undefined if no task fails repeatedly. */
export async function workerTrouble(client: Client, raw: RawDescription): Promise<WorkerTrouble | undefined> {
  const { attempt } = raw.pendingWorkflowTask ?? {};
  if ((attempt ?? 0) > MIN_TRIES) return taskTrouble(client, raw);
  for (const pending of raw.pendingActivities ?? []) {
    const isTriedAgain = (pending.attempt ?? 0) >= MIN_TRIES && !isTimeout(pending.lastFailure);
    const reason = isTriedAgain ? await textOf(client, pending.lastFailure) : undefined;
    if (reason !== undefined && !isUsual(reason))
      return { reason, worker: nameIn(pending.lastWorkerIdentity) };
  }
  return undefined;
}

/** The worker was lost with the task, but did not fail it. */
const isTimeout = (failure: ProtoFailure): boolean => failure?.timeoutFailureInfo != null;

/** Each look of a poll is a retry. */
const isUsual = (reason: string): boolean => /^\d+ of \d+ runs have not ended$/.test(reason);

const EVENTS = 10;

/** Temporal writes only the first failure of a workflow task into the history, at its end. */
async function taskTrouble(client: Client, raw: RawDescription): Promise<WorkerTrouble | undefined> {
  const { namespace } = client.options;
  const { workflowId, runId } = raw.workflowExecutionInfo?.execution ?? {};
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace,
    execution: { workflowId: workflowId ?? '', runId: runId ?? '' },
    maximumPageSize: EVENTS,
  });
  for (const { workflowTaskFailedEventAttributes: failed } of history?.events ?? []) {
    const reason = failed == null ? undefined : await textOf(client, failed.failure);
    if (reason !== undefined) return { reason, worker: nameIn(failed?.identity) };
  }
  return undefined;
}

async function textOf({ workflow }: Client, failure: ProtoFailure): Promise<string | undefined> {
  const { loadedDataConverter } = workflow.options;
  return (await decodeOptionalFailureToOptionalError(loadedDataConverter, failure))?.message;
}
