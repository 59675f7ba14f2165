// A run as V1 shows it: without what V2 added, and its outputs without their frame.

import { runToWire, type RunRecord } from './run.ts';
import type { Shown } from './shown/fields.ts';
import type { v1RunShown } from './shown/run.ts';

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
