// The run on the wire: reading it (schemas with the domain's names) and writing it (`runToWire`, for the local run service).
// Names with underscores occur only in this folder.

import { z } from 'zod';
import { fileNameText, gpuName, optionalName, shortId, shortName } from './names.ts';
import type { Shown } from './shown/fields.ts';
import type { lightRowShown, listedRunShown, outputShown, runPageShown, runShown } from './shown/run.ts';
import type { Status } from './statuses.ts';

const text = z.string().nullish();
const number = z.number().nullish();
const object = z.record(z.string(), z.unknown()).nullish();

/** One file of an output. */
const fileWire = z.looseObject({ url: z.string(), filename: fileNameText, type: text });
export type OutputFile = z.infer<typeof fileWire>;

const outputWire = z.object({
  data: z.record(z.string(), z.unknown()).nullish(),
  node_id: text,
  output_id: text,
  node_meta: z.looseObject({ node_id: z.string().nullish() }).nullish(),
});

/** The output of one node of the workflow: its files and texts, under any key. */
type Output = {
  readonly nodeId: string | undefined;
  readonly files: readonly OutputFile[];
  readonly texts: readonly string[];
};

function toOutput(wire: z.infer<typeof outputWire>): Output {
  const values = Object.values(wire.data ?? {}).flatMap((value) => (Array.isArray(value) ? value : [value]));
  const files = values.flatMap((value) => {
    const file = fileWire.safeParse(value);
    return file.success ? [file.data] : [];
  });
  return {
    nodeId: optionalName(wire.node_id ?? wire.node_meta?.node_id ?? wire.output_id),
    files,
    texts: values.filter((value) => typeof value === 'string'),
  };
}

/** The specification's Run, in its own order. Everything but id and status may be empty or missing. */
const runWire = z.object({
  id: z.string(),
  workflow_version_id: text,
  workflow_inputs: object,
  workflow_id: text,
  workflow_api: object,
  machine_id: text,
  origin: text,
  status: z.string(),
  ended_at: text,
  created_at: text,
  updated_at: text,
  queued_at: text,
  started_at: text,
  gpu_event_id: text,
  gpu: text,
  machine_version: text,
  machine_type: text,
  worker_function_call_id: text,
  modal_function_call_id: text,
  user_id: text,
  org_id: text,
  live_status: text,
  progress: number,
  is_realtime: z.boolean().nullish(),
  webhook: text,
  webhook_status: text,
  webhook_intermediate_status: z.boolean().nullish(),
  outputs: z.array(outputWire).nullish(),
  number,
  duration: number,
  cold_start_duration: number,
  cold_start_duration_total: number,
  run_duration: number,
  deployment_id: text,
});
export type RunWire = z.infer<typeof runWire>;

/** A run. Times are milliseconds since 1970, durations are seconds. */
export type Run = {
  readonly id: string;
  readonly status: string;
  readonly liveStatus: string | undefined;
  /** 0 to 1. */
  readonly progress: number;
  readonly gpu: string | undefined;
  readonly webhook: string | undefined;
  readonly workflowId: string | undefined;
  readonly deploymentId: string | undefined;
  readonly inputs: Readonly<Record<string, unknown>> | undefined;
  readonly callId: string | undefined;
  /** The version of the machine's node component. */
  readonly machineVersion: string | undefined;
  readonly machineType: string | undefined;
  readonly createdAtMs: number | undefined;
  readonly updatedAtMs: number | undefined;
  readonly queuedAtMs: number | undefined;
  readonly startedAtMs: number | undefined;
  readonly endedAtMs: number | undefined;
  readonly coldStartSeconds: number | undefined;
  readonly coldStartTotalSeconds: number | undefined;
  readonly runSeconds: number | undefined;
  readonly outputs: readonly Output[];
};

const timeOf = (date: string | null | undefined): number | undefined => {
  const ms = date ? Date.parse(date) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
};

function toRun(wire: RunWire): Run {
  const progress = wire.progress ?? 0;
  return {
    id: shortId(wire.id),
    status: shortName(wire.status),
    liveStatus: wire.live_status ?? undefined,
    // Some examples in the service's documentation use 0..100.
    progress: progress > 1 ? progress / 100 : Math.max(0, progress),
    gpu: gpuName(wire.gpu),
    webhook: wire.webhook ?? undefined,
    workflowId: wire.workflow_id ?? undefined,
    deploymentId: wire.deployment_id ?? undefined,
    inputs: wire.workflow_inputs ?? undefined,
    callId: wire.worker_function_call_id ?? wire.modal_function_call_id ?? undefined,
    machineVersion: optionalName(wire.machine_version),
    machineType: optionalName(wire.machine_type),
    createdAtMs: timeOf(wire.created_at),
    updatedAtMs: timeOf(wire.updated_at),
    queuedAtMs: timeOf(wire.queued_at),
    startedAtMs: timeOf(wire.started_at),
    endedAtMs: timeOf(wire.ended_at),
    coldStartSeconds: wire.cold_start_duration ?? undefined,
    coldStartTotalSeconds: wire.cold_start_duration_total ?? undefined,
    runSeconds: wire.run_duration ?? undefined,
    outputs: (wire.outputs ?? []).map(toOutput),
  };
}

export const runSchema = runWire.transform(toRun);
export const runListSchema = z.array(runWire).transform((runs) => runs.map(toRun));

type FileRecord = { readonly url: string; readonly filename: string; readonly type: string };

/** The stored output of one node. */
export type OutputRecord = {
  readonly id: string;
  readonly runId: string;
  readonly nodeId: string;
  readonly nodeClass: string;
  readonly data: Readonly<Record<string, readonly (FileRecord | string)[]>>;
  readonly createdAtMs: number;
};

/** Every field of the specification's Run, as a service writes it. Times are milliseconds, durations seconds. */
export type RunRecord = {
  readonly id: string;
  readonly workflowVersionId: string;
  readonly workflowInputs: Readonly<Record<string, unknown>>;
  readonly workflowId: string;
  readonly machineId: string;
  readonly origin: string;
  readonly status: Status;
  readonly endedAtMs: number | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly queuedAtMs: number | null;
  readonly startedAtMs: number | null;
  readonly gpuEventId: string | null;
  readonly gpu: string | null;
  readonly machineVersion: string | null;
  readonly machineType: string | null;
  readonly callId: string | null;
  readonly userId: string;
  readonly orgId: string | null;
  readonly liveStatus: string | null;
  readonly progress: number;
  readonly webhook: string | null;
  readonly webhookIntermediateStatus: boolean;
  readonly outputs: readonly OutputRecord[];
  readonly deploymentId: string;
};

/** `2025-01-02T03:04:05.123000Z`: six digits, as the service's own serializer writes them. */
const dateOf = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');
const dateOrNull = (ms: number | null): string | null => (ms === null ? null : dateOf(ms));

const seconds = (from: number | null, to: number | null): number | null =>
  from === null || to === null ? null : (to - from) / 1000;

export const outputToWire = (output: OutputRecord): Shown<typeof outputShown> => ({
  id: output.id,
  run_id: output.runId,
  data: output.data,
  node_meta: { node_id: output.nodeId, node_class: output.nodeClass },
  created_at: dateOf(output.createdAtMs),
  updated_at: dateOf(output.createdAtMs),
  type: null,
  node_id: null,
});

/** A run record in the specification's field order. */
export const runToWire = (run: RunRecord): Shown<typeof runShown> => ({
  id: run.id,
  workflow_version_id: run.workflowVersionId,
  workflow_inputs: run.workflowInputs,
  workflow_id: run.workflowId,
  workflow_api: {},
  machine_id: run.machineId,
  origin: run.origin,
  status: run.status,
  ended_at: dateOrNull(run.endedAtMs),
  created_at: dateOf(run.createdAtMs),
  updated_at: dateOf(run.updatedAtMs),
  queued_at: dateOrNull(run.queuedAtMs),
  started_at: dateOrNull(run.startedAtMs),
  gpu_event_id: run.gpuEventId,
  gpu: run.gpu,
  machine_version: run.machineVersion,
  machine_type: run.machineType,
  worker_function_call_id: run.callId,
  // The real service's spelling, which some clients need.
  modal_function_call_id: run.callId,
  user_id: run.userId,
  org_id: run.orgId,
  live_status: run.liveStatus,
  progress: run.progress,
  is_realtime: false,
  webhook: run.webhook,
  webhook_status: null,
  webhook_intermediate_status: run.webhookIntermediateStatus,
  outputs: run.outputs.map(outputToWire),
  number: 0,
  duration: seconds(run.createdAtMs, run.endedAtMs),
  cold_start_duration: seconds(run.queuedAtMs, run.startedAtMs),
  cold_start_duration_total: seconds(run.createdAtMs, run.startedAtMs),
  run_duration: seconds(run.startedAtMs, run.endedAtMs),
});

/** A run in the run lists: with the deployment, and with inputs and outputs only on request. */
export function runToListWire(
  run: RunRecord,
  also: { inputs: boolean; outputs: boolean },
): Shown<typeof listedRunShown> {
  const { workflow_inputs, outputs, ...light } = runToWire(run);
  return {
    ...light,
    deployment_id: run.deploymentId,
    ...(also.inputs ? { workflow_inputs } : {}),
    ...(also.outputs ? { outputs } : {}),
  };
}

/** A row of the light list of a workflow: status and durations, without inputs and outputs. */
export function runToLightRow(run: RunRecord): Shown<typeof lightRowShown> {
  const {
    workflow_inputs: _inputs,
    workflow_api: _graph,
    outputs: _outputs,
    webhook: _webhook,
    ...fields
  } = runToWire(run);
  return { ...fields, deployment_id: run.deploymentId, batch_id: null };
}

/** The few fields that the run list of a deployment shows. Its `duration` is text, as the real service writes it. */
function runToLightWire(run: RunRecord): Shown<typeof runPageShown>['data'][number] {
  const lived = seconds(run.createdAtMs, run.endedAtMs);
  return {
    id: run.id,
    status: run.status,
    created_at: dateOf(run.createdAtMs),
    started_at: dateOrNull(run.startedAtMs),
    ended_at: dateOrNull(run.endedAtMs),
    workflow_id: run.workflowId,
    workflow_version_id: run.workflowVersionId,
    machine_id: run.machineId,
    gpu: run.gpu,
    origin: run.origin,
    user_id: run.userId,
    deployment_id: run.deploymentId,
    duration: lived === null ? null : String(lived),
  };
}

export const runPageToWire = (
  runs: readonly RunRecord[],
  meta: { readonly total: number; readonly limit: number; readonly offset: number },
): Shown<typeof runPageShown> => ({ data: runs.map(runToLightWire), meta });
