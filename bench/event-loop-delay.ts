// Loaded into a worker with --import: reports how long its main thread could not react, in milliseconds, when asked by SIGUSR2.

import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const RESOLUTION_MS = 1;
const SHARE = 99.9;

if (isMainThread && process.env['RUNSHEET_BENCH_DELAYS'] !== undefined) {
  const path = process.env['RUNSHEET_BENCH_DELAYS'];
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  process.on('SIGUSR2', () => {
    writeFileSync(path, JSON.stringify(delays.percentile(SHARE) / 1e6));
    delays.reset();
  });
}
