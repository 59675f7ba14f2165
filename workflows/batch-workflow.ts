// The workflow of a batch. Its loop is in batch-loop.ts, and `src/batch` makes all decisions.

import type { Progress } from '../src/batch/shown/progress.ts';
import type { BatchInput } from './signals.ts';
import { loadState, restored, runBatchLoop } from './batch-loop.ts';
import { temporalRuntime } from './temporal-runtime.ts';

/** Runs every row of a batch to one outcome; returns the final progress. */
export async function runsheetBatch({ batch, mark, folder, ...input }: BatchInput): Promise<Progress> {
  const runtime = temporalRuntime({ batch, mark, folder });
  const loaded = input.snapshot ? restored(input.snapshot) : await loadState(runtime, input);
  return runBatchLoop(runtime, loaded);
}
