// Gauges of the worker itself: whether it can work, its disk, and how current its figures are.

import { Gauge, type Registry } from 'prom-client';
import { OK, type Readiness } from './readiness.ts';

export type WorkerReading = {
  /** When the figures of batches were read, in milliseconds since 1970; undefined: never. */
  readonly readAtMs: number | undefined;
  readonly isComplete: boolean;
  readonly readiness: Readiness;
  /** undefined if it cannot be read. */
  readonly disk: { readonly free: number; readonly size: number } | undefined;
};

export function createWorkerGauges(registry: Registry): (reading: WorkerReading) => void {
  const gauge = (name: string, help: string, labelNames: readonly string[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const readAt = gauge(
    'runsheet_batches_read_timestamp_seconds',
    'When the figures of batches were last read; 0: never',
  );
  const incomplete = gauge('runsheet_batches_incomplete', '1 if some batches are not shown');
  const ready = gauge('runsheet_worker_ready', '1 if every check of /readyz passes');
  const check = gauge('runsheet_worker_check', '1 if this check of /readyz passes', ['check']);
  const free = gauge('runsheet_out_free_bytes', 'Free bytes on the disk of the batches');
  const size = gauge('runsheet_out_size_bytes', 'Size of the disk of the batches');
  return ({ readAtMs = 0, isComplete, readiness, disk }) => {
    readAt.set(readAtMs / 1000);
    incomplete.set(isComplete ? 0 : 1);
    ready.set(readiness.isReady ? 1 : 0);
    for (const [name, result] of Object.entries(readiness.checks))
      check.set({ check: name }, result === OK ? 1 : 0);
    if (disk === undefined) return;
    free.set(disk.free);
    size.set(disk.size);
  };
}
