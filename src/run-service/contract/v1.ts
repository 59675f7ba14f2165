// A run as V1 shows it: without what V2 added, and its outputs without their frame.

import { runToWire, type RunRecord } from './run.ts';

/** Fields of V2 that V1 does not have. */
const SINCE_V2 = new Set([
  'updated_at',
  'gpu_event_id',
  'duration',
  'cold_start_duration',
  'cold_start_duration_total',
  'run_duration',
  'number',
  'outputs',
]);

export function runToV1Wire(run: RunRecord): object {
  const fields = Object.entries(runToWire(run)).filter(([name]) => !SINCE_V2.has(name));
  return {
    ...Object.fromEntries(fields),
    outputs: run.outputs.map(({ data }) => ({ data })),
    run_log: null,
  };
}
