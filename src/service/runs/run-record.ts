// Converts a stored row to a run on the wire; what is not stored is derived from the plan, the clock and the ids.

import { parseExactly } from '../../batch/digits.ts';
import type { outputShown, Shown, ShownRun } from '../../run-service/contract/shown.ts';
import type { RunRow } from './run-row.ts';
import type { DeploymentSpec } from '../deployments.ts';
import { callIdOf, idsOf, uuidOf } from '../identity.ts';
import { NO_WORK, workAt, type RunPlan, type Work } from './planned-result.ts';

/** How the files of a run are published. */
export type Links = {
  /** The base address of downloads. */
  readonly origin: string;
  /** When their addresses expire; undefined: never. */
  readonly endMs?: number | undefined;
  /** Replaces the name of each file. */
  readonly filename?: string | undefined;
};

/** The context in which a record is shown. */
export type Showing = {
  readonly nowMs: number;
  readonly links: Links;
  /** A run that was not updated for this long is shown as timed out, without an end time. */
  readonly staleMs: number;
  /** The facts that the run's machine shows; undefined if its deployment no longer exists. */
  readonly machine: Pick<DeploymentSpec, 'machineVersion' | 'machineType'> | undefined;
};

/** Everything that the service shows of a run, in the specification's order. */
export function recordOf(row: RunRow, { nowMs, links, staleMs, machine }: Showing): ShownRun {
  const plan = storedPlan(row);
  const work = plan === undefined ? NO_WORK : workOf(row, plan, nowMs);
  const { workflowId, versionId, machineId } = idsOf(row.deploymentId);
  const { createdMs, queuedMs, endedMs } = row;
  const startedMs = plan !== undefined && hasStarted(row, plan) ? plan.startsMs : null;
  const updatedMs = Math.max(row.updatedMs, work.sinceMs);
  const isStale = endedMs === null && nowMs - updatedMs > staleMs;
  const callId = plan === undefined ? null : callIdOf(row.id);
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
    outputs: row.status === 'success' ? outputsOf(row, endedMs ?? nowMs, links) : [],
    number: 0,
    duration: secondsBetween(createdMs, endedMs),
    cold_start_duration: secondsBetween(queuedMs, startedMs),
    cold_start_duration_total: secondsBetween(createdMs, startedMs),
    run_duration: secondsBetween(startedMs, endedMs),
    deployment_id: row.deploymentId,
  };
}

/** `2025-01-02T03:04:05.123000Z`: six digits, as the real service's serializer writes them. */
const dateOf = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');
const dateOrNull = (ms: number | null): string | null => (ms === null ? null : dateOf(ms));

const secondsBetween = (from: number | null, to: number | null): number | null =>
  from === null || to === null ? null : (to - from) / 1000;

/** The plan of a row; undefined until a container takes the run. */
export function storedPlan(row: { readonly [Field in keyof RunPlan]: RunPlan[Field] | null }):
  | RunPlan
  | undefined {
  const { queuedMs, startsMs, runMs, endsMs, ending } = row;
  if (queuedMs === null || startsMs === null || runMs === null || endsMs === null || ending === null) {
    return undefined;
  }
  return { queuedMs, startsMs, runMs, endsMs, ending };
}

function workOf(row: RunRow, plan: RunPlan, nowMs: number): Work {
  if (row.endedMs !== null) return workAt(plan, row.endedMs);
  // The clock may be ahead of a step that is not stored yet, so the status limits what a run shows.
  return row.status === 'running' ? workAt(plan, Math.min(nowMs, plan.endsMs)) : NO_WORK;
}

const hasStarted = (row: RunRow, plan: RunPlan): boolean =>
  row.endedMs === null ? row.status !== 'queued' : plan.startsMs <= row.endedMs;

/** The name of a picture of a run, counted from 1. */
export const pictureName = (index: number): string => `picture-${index}.png`;

/** The number of the picture that a file name means, counted from 1; undefined for any other name. */
export function pictureIndexOf(filename: string): number | undefined {
  const digits = /^picture-([1-9][0-9]{0,2})\.png$/.exec(filename)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The outputs of a succeeded run: one node with its pictures, or nothing. */
export function outputsOf(
  run: Pick<RunRow, 'id' | 'outputs'>,
  endedMs: number,
  links: Links,
): readonly Shown<typeof outputShown>[] {
  if (run.outputs === 0) return [];
  const end = links.endMs === undefined ? '' : `?expires=${Math.round(links.endMs)}`;
  const images = Array.from({ length: run.outputs }, (_, index) => {
    const filename = pictureName(index + 1);
    const url = `${links.origin}/files/runs/${run.id}/${filename}${end}`;
    return { url, filename: links.filename ?? filename, type: 'output' };
  });
  return [
    {
      id: uuidOf('output', run.id),
      run_id: run.id,
      data: { images },
      node_meta: { node_id: '9', node_class: 'SaveImage' },
      created_at: dateOf(endedMs),
      updated_at: dateOf(endedMs),
      type: null,
      node_id: null,
    },
  ];
}
