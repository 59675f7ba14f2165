// Parses the run on the wire leniently into the domain's names. Names with underscores occur only in this folder and in the local
// run service, which writes them.

import { z } from 'zod';
import { shortened } from '../../errors/outside-text.ts';

// The length of names from the service is limited, because they are stored in signals, records and sums.
const MAX_NAME = 60;
const MAX_FILE_NAME = 255;

/** Longer than any id of ours, so that a cut id never matches one of our runs. */
const MAX_ID = 200;
const shortName = (name: string): string => shortened(name, MAX_NAME);

const optionalName = (name: string | null | undefined) => (name == null ? undefined : shortName(name));

/** GPU names are object keys in sums, so a name that every object has (`constructor`) is refused. */
const gpuName = (name: string | null | undefined): string | undefined =>
  name == null || name in {} ? undefined : shortName(name);

const fileNameText = z.string().transform((name) => shortened(name, MAX_FILE_NAME));

const text = z.string().nullish();
const number = z.number().nullish();
const object = z.record(z.string(), z.unknown()).nullish();

const fileWire = z.looseObject({ url: z.string(), filename: fileNameText, type: text });
export type OutputFile = z.infer<typeof fileWire>;

const outputWire = z.object({
  data: z.record(z.string(), z.unknown()).nullish(),
  node_id: text,
  output_id: text,
  node_meta: z.looseObject({ node_id: text, node_title: text.catch(undefined) }).nullish(),
});

/** The output of one node of the workflow: its files and texts, under any key. */
function toOutput(wire: z.infer<typeof outputWire>) {
  const values = Object.values(wire.data ?? {}).flatMap((value) => (Array.isArray(value) ? value : [value]));
  const files = values.flatMap((value) => {
    const file = fileWire.safeParse(value);
    return file.success ? [file.data] : [];
  });
  return {
    nodeId: optionalName(wire.node_id ?? wire.node_meta?.node_id ?? wire.output_id),
    /** The node's title in the workflow. */
    nodeTitle: optionalName(wire.node_meta?.node_title),
    files,
    texts: values.filter((value) => typeof value === 'string'),
  };
}

/** The fields that runsheet uses. All but id and status may be empty or missing. */
const runWire = z.object({
  id: z.string(),
  workflow_inputs: object,
  workflow_id: text,
  status: z.string(),
  ended_at: text,
  created_at: text,
  updated_at: text,
  queued_at: text,
  started_at: text,
  gpu: text,
  machine_version: text,
  machine_type: text,
  live_status: text,
  progress: number,
  webhook: text,
  outputs: z.array(outputWire).nullish(),
  cold_start_duration: number,
  run_duration: number,
  lost_executions: number,
  lost_duration: number,
  cost_usd: number,
  deployment_id: text,
});

const timeOf = (date: string | null | undefined): number | undefined => {
  const ms = date ? Date.parse(date) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
};

/** Far above the cost of any run; anything else would spoil sums. */
const MAX_COST = 1e6;

const costIn = (usd: number | null | undefined): number | undefined =>
  usd != null && usd >= 0 && usd <= MAX_COST ? usd : undefined;

/** Times are milliseconds since 1970, durations are seconds. */
function toRun(wire: z.infer<typeof runWire>) {
  const progress = wire.progress ?? 0;
  return {
    id: shortened(wire.id, MAX_ID),
    status: shortName(wire.status),
    liveStatus: wire.live_status ?? undefined,
    // The range is 0 to 1, but some examples in the service's documentation use 0 to 100.
    progress: progress > 1 ? progress / 100 : Math.max(0, progress),
    gpu: gpuName(wire.gpu),
    webhook: wire.webhook ?? undefined,
    workflowId: wire.workflow_id ?? undefined,
    deploymentId: wire.deployment_id ?? undefined,
    inputs: wire.workflow_inputs ?? undefined,
    /** The version of the machine's node component. */
    machineVersion: optionalName(wire.machine_version),
    machineType: optionalName(wire.machine_type),
    createdAtMs: timeOf(wire.created_at),
    updatedAtMs: timeOf(wire.updated_at),
    queuedAtMs: timeOf(wire.queued_at),
    startedAtMs: timeOf(wire.started_at),
    endedAtMs: timeOf(wire.ended_at),
    coldStartSeconds: wire.cold_start_duration ?? undefined,
    runSeconds: wire.run_duration ?? undefined,
    /** How often and for how many seconds the run was executed in vain, because its machine was lost. */
    lostExecutions: wire.lost_executions ?? undefined,
    lostSeconds: wire.lost_duration ?? undefined,
    /** US dollars that the run cost, if the service tells: they win over prices. */
    costUsd: costIn(wire.cost_usd),
    outputs: (wire.outputs ?? []).map(toOutput),
  };
}
export type Run = Readonly<ReturnType<typeof toRun>>;

export const runSchema = runWire.transform(toRun);
export const runListSchema = z.array(runWire).transform((runs) => runs.map(toRun));

/** The content of a webhook, which is a hint to read the run and never a result. */
export const webhookSchema = z
  .looseObject({
    run_id: z.uuid(),
    status: z.string().transform(shortName),
    event_type: z.string().nullish(),
  })
  .transform((wire) => ({ runId: wire.run_id, status: wire.status }));

/** A line of a run's log; times are milliseconds since 1970. */
export type LogLine = {
  readonly atMs: number;
  readonly level: 'info' | 'error' | 'webhook';
  readonly message: string;
};

const LEVELS: readonly string[] = ['info', 'error', 'webhook'] satisfies LogLine['level'][];

const lineWire = z.looseObject({
  timestamp: z.string().nullish(),
  log: z.string().nullish(),
  log_type: z.string().nullish(),
});

/** The log of a run on the wire. An unknown level counts as information. */
export const runLogSchema = z.array(lineWire).transform((lines): readonly LogLine[] =>
  lines.map(({ timestamp, log, log_type: level }) => ({
    atMs: Date.parse(timestamp ?? '') || 0,
    level: LEVELS.includes(level ?? '') ? (level as LogLine['level']) : 'info',
    message: log ?? '',
  })),
);
