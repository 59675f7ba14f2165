// Finds the origin of a workflow run: the first run of its chain, and whether somebody has reset it.

import type { Client } from '@temporalio/client';
import QuickLRU from 'quick-lru';
import type { Execution } from '../batch/workflow-ids.ts';
import type { Origin } from '../store/standing.ts';

const KEPT = 1_000;

/** On an embedded server anybody may reset a run; on a cluster, people who may do so know the effect. */
export function openOrigins(
  client: Client,
  server: 'embedded' | 'cluster',
): (caller: Execution) => Promise<Origin> {
  const read = server === 'embedded' ? inHistory : asDescribed;
  /** Origins by run; an origin never changes. */
  const origins = new QuickLRU<string, Origin>({ maxSize: KEPT });
  return async (caller) => {
    const before = origins.get(caller.runId);
    if (before !== undefined) return before;
    const origin = await read(client, caller);
    origins.set(caller.runId, origin);
    return origin;
  };
}

/** Reads the origin from the first event, which a reset copies from the original run. */
async function inHistory(client: Client, { workflowId, runId }: Execution): Promise<Origin> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const attributes = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
  return {
    firstRunId: attributes?.firstExecutionRunId ?? '',
    wasReset: attributes?.originalExecutionRunId !== runId,
  };
}

/** Reads the origin without the first event, which holds a snapshot of the batch. */
async function asDescribed(client: Client, { workflowId, runId }: Execution): Promise<Origin> {
  const { workflowExecutionInfo } = await client.workflowService.describeWorkflowExecution({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
  });
  return { firstRunId: workflowExecutionInfo?.firstRunId ?? '', wasReset: false };
}
