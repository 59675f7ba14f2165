// Counts what a batch costs Temporal: the events of its histories, and the actions that Temporal Cloud would bill.
//
// What is billed stands in docs.temporal.io/evaluate/cloud/actions: each start of a workflow, continue-as-new included; each
// timer, signal and upsert of search attributes; each start of an activity and each of its retries; each heartbeat that reaches
// the server. The server has a counter of them (docs.temporal.io/cloud/migrate/estimate-actions) that also includes upserts of
// the memo, which the page does not name; they are counted here. It lacks retries, which stand in the histories.

import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { request } from 'undici';

/** The price of a million actions without discounts (docs.temporal.io/evaluate/cloud/pricing). */
export const USD_PER_MILLION_ACTIONS = 50;

export type Counts = Readonly<Record<string, number>>;

export type HistoryCosts = {
  readonly events: Counts;
  /** Retries of activities, which write no events. */
  readonly retries: number;
};

const { EventType } = proto.temporal.api.enums.v1;

/** Sums over all workflow runs of a batch. */
export async function historyCosts(client: Client, workflowId: string): Promise<HistoryCosts> {
  const events: Record<string, number> = {};
  let retries = 0;
  for await (const { runId } of client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    for (const { eventType, activityTaskStartedEventAttributes: started } of history.events ?? []) {
      const kind = kindOf(EventType[eventType ?? 0] ?? '');
      events[kind] = (events[kind] ?? 0) + 1;
      retries += (started?.attempt ?? 1) - 1;
    }
  }
  return { events, retries };
}

const KINDS = [
  ['WORKFLOW_TASK', 'tasks'],
  ['ACTIVITY', 'activities'],
  ['SIGNALED', 'signals'],
  ['TIMER', 'timers'],
  ['PROPERTIES', 'memo'],
] as const;

const kindOf = (type: string): string => KINDS.find(([word]) => type.includes(word))?.[1] ?? 'other';

/** How many actions of each kind the server has counted since its start, from its Prometheus page. */
export async function actionsAt(metricsPort: number, namespace: string): Promise<Counts> {
  const { body } = await request(`http://127.0.0.1:${metricsPort}/metrics`);
  const counts: Record<string, number> = {};
  for (const line of (await body.text()).split('\n')) {
    const [, kind, count] = /^action\{action_type="(?:grpc|command)_(\w+)".* (\d+)$/.exec(line) ?? [];
    if (kind === undefined || !line.includes(`namespace="${namespace}"`)) continue;
    counts[kind] = (counts[kind] ?? 0) + Number(count);
  }
  return counts;
}
