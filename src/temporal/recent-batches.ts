// Lists the batches that run or ended lately, with their published progress, in one request whatever their number.

import type { Client } from '@temporalio/client';
import { executionInfoFromRaw } from '@temporalio/client/lib/helpers.js';
import type { BatchMemo } from '../../workflows/signals.ts';
import type { Progress } from '../batch/shown/progress.ts';
import { batchNameOf, workflowIdOf, type BatchRef } from '../batch/workflow-ids.ts';

export type RecentBatch = BatchRef & {
  /** `failed`: the workflow ended without a result, for example because it was terminated. */
  readonly workflow: 'running' | 'completed' | 'failed';
  readonly closedAt: Date | undefined;
  /** undefined until the batch has read its parameters. */
  readonly progress: Progress | undefined;
};

const DEADLINE_MS = 5_000;

/** `isComplete`: false if there are more batches than `most`, or if a memo could not be decoded. */
export type RecentBatches = { readonly batches: readonly RecentBatch[]; readonly isComplete: boolean };

/** Running batches first, then batches that ended since, newest first. */
export async function recentBatches(
  client: Client,
  queue: string,
  { endedSince, most }: { readonly endedSince: Date; readonly most: number },
): Promise<RecentBatches> {
  const query = [
    "WorkflowType = 'runsheetBatch'",
    `TaskQueue = '${queue.replaceAll("'", "''")}'`,
    "ExecutionStatus != 'ContinuedAsNew'",
    `(ExecutionStatus = 'Running' OR CloseTime > '${endedSince.toISOString()}')`,
  ].join(' AND ');
  const { namespace } = client.options;
  const { executions, nextPageToken } = await client.withDeadline(Date.now() + DEADLINE_MS, () =>
    client.workflowService.listWorkflowExecutions({ namespace, query, pageSize: most }),
  );
  const batches = new Map<string, RecentBatch>();
  let unreadable = 0;
  for (const raw of executions) {
    const batch = await decoded(client, raw);
    if (batch === undefined) unreadable += 1;
    // A batch that continues after its end has two workflow runs; the running one comes first.
    else if (!batches.has(workflowIdOf(batch))) batches.set(workflowIdOf(batch), batch);
  }
  return {
    batches: [...batches.values()],
    isComplete: unreadable === 0 && nextPageToken.length === 0,
  };
}

type RawExecution = Parameters<typeof executionInfoFromRaw>[0];

/**
 * undefined for a foreign workflow, and for a memo that was encrypted with another key: one bad memo must not hide
 * the others.
 */
async function decoded(client: Client, raw: RawExecution): Promise<RecentBatch | undefined> {
  const { loadedDataConverter } = client.workflow.options;
  const { namespace } = client.options;
  const info = await executionInfoFromRaw(raw, loadedDataConverter, undefined, namespace).catch(
    () => undefined,
  );
  const name = info && batchNameOf(info.workflowId);
  if (info === undefined || name === undefined) return undefined;
  const { folder, progress } = (info.memo ?? {}) as { readonly folder?: string } & BatchMemo;
  const workflow = WORKFLOW[info.status.name] ?? 'failed';
  return { ...name, folder: folder ?? '', workflow, closedAt: info.closeTime, progress };
}

const WORKFLOW: Readonly<Record<string, RecentBatch['workflow']>> = {
  RUNNING: 'running',
  PAUSED: 'running',
  COMPLETED: 'completed',
};
