// Converts a stored row into a run on the wire; other fields come from the executor, the clock and the ids.

import { parseExactly } from '../../host/formats/exact-json.ts';
import type { outputShown, AnswerOf, ShownRun } from '../../service-client/contract/shown.ts';
import type { RunRow } from '../database.ts';
import type { Deployment } from '../service-deployments.ts';
import { callIdOf, idsOf, uuidOf } from '../identity.ts';
import type { Output, RunWork } from '../executors/executor.ts';
import { usdOf } from '../../options/text/printed-numbers.ts';

export type Links = {
  readonly origin: string;
  /** When the addresses expire; undefined means never. */
  readonly endMs?: number | undefined;
  /** Replaces the name of each file. */
  readonly filename?: string | undefined;
};

export type Showing = {
  readonly nowMs: number;
  readonly links: Links;
  /** A run that was not updated for this long is shown as timed out, without an end time. */
  readonly staleMs: number;
  readonly work: RunWork;
  readonly outputs: readonly Output[];
  readonly costNano?: number | undefined;
  /** The machine facts that the run shows; undefined if its deployment no longer exists. */
  readonly machine: Pick<Deployment, 'machineVersion' | 'machineType'> | undefined;
};

/** Everything that the service shows of a run, in the specification's order. */
export function recordOf(
  row: RunRow,
  { nowMs, links, staleMs, work, outputs, costNano, machine }: Showing,
): ShownRun {
  const { workflowId, versionId, machineId } = idsOf(row.deploymentId);
  const { createdMs, queuedMs, startedMs, endedMs } = row;
  const updatedMs = Math.max(row.updatedMs, work.sinceMs);
  const isStale = endedMs === null && nowMs - updatedMs > staleMs;
  const callId = row.state === null ? null : callIdOf(row.id);
  return {
    id: row.id,
    workflow_version_id: versionId,
    workflow_inputs: parseExactly(row.inputs) as Record<string, unknown>,
    workflow_id: workflowId,
    workflow_api: {},
    machine_id: machineId,
    origin: 'api',
    status: isStale ? 'timeout' : row.status,
    ended_at: dateOrNull(endedMs),
    created_at: dateOf(createdMs),
    updated_at: dateOf(updatedMs),
    queued_at: dateOrNull(queuedMs),
    started_at: dateOrNull(startedMs),
    gpu_event_id: row.containerId,
    gpu: row.gpu,
    machine_version: machine?.machineVersion ?? null,
    machine_type: machine?.machineType ?? null,
    worker_function_call_id: callId,
    // The real service's spelling, which some clients need.
    modal_function_call_id: callId,
    user_id: row.owner,
    org_id: null,
    live_status: work.liveStatus,
    progress: work.progress,
    is_realtime: false,
    webhook: row.webhook,
    webhook_status: null,
    webhook_intermediate_status: row.intermediate === 1,
    outputs: row.status === 'success' ? shownOutputs(row.id, outputs, endedMs ?? nowMs, links) : [],
    number: 0,
    duration: secondsBetween(createdMs, endedMs),
    cold_start_duration: secondsBetween(queuedMs, startedMs),
    cold_start_duration_total: secondsBetween(createdMs, startedMs),
    run_duration: secondsBetween(startedMs, endedMs),
    ...(row.lostRuns === 0 ? {} : { lost_executions: row.lostRuns, lost_duration: row.lostMs / 1000 }),
    ...(costNano === undefined ? {} : { cost_usd: usdOf(costNano) }),
    deployment_id: row.deploymentId,
  };
}

/** Formats `2025-01-02T03:04:05.123000Z`: six digits, like the real service's serializer. */
const dateOf = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');
const dateOrNull = (ms: number | null): string | null => (ms === null ? null : dateOf(ms));

const secondsBetween = (from: number | null, to: number | null): number | null =>
  from === null || to === null ? null : (to - from) / 1000;

export function shownOutputs(
  runId: string,
  outputs: readonly Output[],
  endedMs: number,
  links: Links,
): readonly AnswerOf<typeof outputShown>[] {
  const end = links.endMs === undefined ? '' : `?expires=${Math.round(links.endMs)}`;
  return outputs.map(({ node, nodeClass, nodeTitle, key, files, texts = [] }) => ({
    id: uuidOf('output', runId, node, key),
    run_id: runId,
    data: {
      [key]:
        files.length === 0
          ? texts
          : files.map(({ filename, type }) => ({
              url: `${links.origin}/files/runs/${runId}/${encodeURIComponent(filename)}${end}`,
              filename: links.filename ?? filename,
              type,
            })),
    },
    node_meta: {
      node_id: node,
      node_class: nodeClass,
      ...(nodeTitle !== undefined && { node_title: nodeTitle }),
    },
    created_at: dateOf(endedMs),
    updated_at: dateOf(endedMs),
    type: null,
    node_id: null,
  }));
}
