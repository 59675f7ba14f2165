// What V1 says in other words than V2: a run without what V2 added, its outputs without their frame; and what went wrong.

import { z } from 'zod';
import { runSchema, runToWire, type Run, type RunRecord } from './run.ts';
import type { Shown } from './shown/fields.ts';
import type { v1RunShown } from './shown/run.ts';

/** Where V1 shows a run. */
export const v1RunPath = (runId: string): string => `/run?run_id=${encodeURIComponent(runId)}`;

/** A run of V1. It tells no durations; where it tells when a machine took the run, they are taken from its times. */
export const v1RunSchema = runSchema.transform((run): Run => ({
  ...run,
  coldStartSeconds: run.coldStartSeconds ?? secondsBetween(run.queuedAtMs, run.startedAtMs),
  coldStartTotalSeconds:
    run.coldStartTotalSeconds ??
    (run.queuedAtMs === undefined ? undefined : secondsBetween(run.createdAtMs, run.startedAtMs)),
  // The oldest services set the start when they hand a run over: without the machine's time it is no measure.
  runSeconds:
    run.runSeconds ??
    (run.queuedAtMs === undefined ? undefined : secondsBetween(run.startedAtMs, run.endedAtMs)),
}));

const secondsBetween = (from: number | undefined, to: number | undefined): number | undefined =>
  from === undefined || to === undefined ? undefined : (to - from) / 1000;

/** V1's two shapes of an error: of an order, and of a run that is not there. */
export const v1ErrorSchema = z.union([
  z.looseObject({ error: z.string() }).transform((wire) => wire.error),
  z.looseObject({ message: z.string() }).transform((wire) => wire.message),
]);

/** How V1 says that it does not know a run. */
export const isUnknownV1Run = (status: number, words: string): boolean =>
  status === 400 && words === 'Workflow not found';

/**
 * What V1 only says before it creates a run, by what is at fault: the row, or what all rows share. It says so with 500, as
 * it does when a run was created and something failed after it.
 */
export const V1_SAID_BEFORE: Readonly<Record<string, 'row' | 'batch'>> = {
  'Invalid request body': 'row',
  'Deployment not found': 'batch',
  'Machine not found': 'batch',
  'Workflow version not found': 'batch',
  'Workflow not found': 'batch',
};

export function runToV1Wire(run: RunRecord): Shown<typeof v1RunShown> {
  const {
    updated_at: _updated,
    gpu_event_id: _container,
    duration: _duration,
    cold_start_duration: _coldStart,
    cold_start_duration_total: _coldStartTotal,
    run_duration: _run,
    number: _number,
    ...fields
  } = runToWire(run);
  return { ...fields, outputs: run.outputs.map(({ data }) => ({ data })), run_log: null };
}
