// Converts a stored row to a run on the wire; fields that are not stored are derived from the plan, the clock and the ids.

import { parseExactly } from '../../batch/digits.ts';
import type { OutputRecord, RunRecord } from '../../run-service/contract/run.ts';
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

/** The row as a run record. */
export function recordOf(row: RunRow, { nowMs, links, staleMs, machine }: Showing): RunRecord {
  const plan = storedPlan(row);
  const work = plan === undefined ? NO_WORK : workOf(row, plan, nowMs);
  const { workflowId, versionId, machineId } = idsOf(row.deploymentId);
  const updatedAtMs = Math.max(row.updatedMs, work.sinceMs);
  const isStale = row.endedMs === null && nowMs - updatedAtMs > staleMs;
  return {
    id: row.id,
    workflowVersionId: versionId,
    workflowInputs: parseExactly(row.inputs) as Record<string, unknown>,
    workflowId,
    machineId,
    origin: 'api',
    status: isStale ? 'timeout' : row.status,
    endedAtMs: row.endedMs,
    createdAtMs: row.createdMs,
    updatedAtMs,
    queuedAtMs: row.queuedMs,
    startedAtMs: plan !== undefined && hasStarted(row, plan) ? plan.startsMs : null,
    gpuEventId: row.containerId,
    gpu: row.gpu,
    machineVersion: machine?.machineVersion ?? null,
    machineType: machine?.machineType ?? null,
    callId: plan === undefined ? null : callIdOf(row.id),
    userId: row.owner,
    orgId: null,
    liveStatus: work.liveStatus,
    progress: work.progress,
    webhook: row.webhook,
    webhookIntermediateStatus: row.intermediate === 1,
    outputs: row.status === 'success' ? outputsOf(row, row.endedMs ?? nowMs, links) : [],
    deploymentId: row.deploymentId,
  };
}

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
): readonly OutputRecord[] {
  if (run.outputs === 0) return [];
  const end = links.endMs === undefined ? '' : `?expires=${Math.round(links.endMs)}`;
  const images = Array.from({ length: run.outputs }, (_, index) => {
    const filename = pictureName(index + 1);
    const url = `${links.origin}/files/runs/${run.id}/${filename}${end}`;
    return { url, filename: links.filename ?? filename, type: 'output' };
  });
  const id = uuidOf('output', run.id);
  return [{ id, runId: run.id, nodeId: '9', nodeClass: 'SaveImage', data: { images }, createdAtMs: endedMs }];
}
