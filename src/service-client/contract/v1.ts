// V1 on the wire: a run without V2's fields, its outputs without their wrapper, and V1's errors.

import { z } from 'zod';
import { runSchema, type Run } from './run.ts';

export const v1RunPath = (runId: string): string => `/run?run_id=${encodeURIComponent(runId)}`;

/** A run of V1. Durations are missing on the wire and are computed from the times, if the run says when a machine took it. */
export const v1RunSchema = runSchema.transform((run): Run => ({
  ...run,
  coldStartSeconds: run.coldStartSeconds ?? secondsBetween(run.queuedAtMs, run.startedAtMs),
  // The oldest services set the start when they dispatch a run, so the start is useless without the machine's time.
  runSeconds:
    run.runSeconds ??
    (run.queuedAtMs === undefined ? undefined : secondsBetween(run.startedAtMs, run.endedAtMs)),
}));

const secondsBetween = (from: number | undefined, to: number | undefined): number | undefined =>
  from === undefined || to === undefined ? undefined : (to - from) / 1000;

/** V1's two error formats: for queueing a run, and for an unknown run. */
export const v1ErrorSchema = z.union([
  z.looseObject({ error: z.string() }).transform((wire) => wire.error),
  z.looseObject({ message: z.string() }).transform((wire) => wire.message),
]);

/** V1's error for an unknown run. */
export const isUnknownV1Run = (status: number, words: string): boolean =>
  status === 400 && words === 'Workflow not found';

/**
 * Messages that V1 sends only before it creates a run, and whether the row or the whole batch caused them. Their status is 500,
 * like that of errors after a run was created.
 */
export const V1_SAID_BEFORE: Readonly<Record<string, 'row' | 'batch'>> = {
  'Invalid request body': 'row',
  'Deployment not found': 'batch',
  'Machine not found': 'batch',
  'Workflow version not found': 'batch',
  'Workflow not found': 'batch',
};
