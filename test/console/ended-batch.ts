// Gives a batch of a console the parts and results of an end, as the worker writes them.

import { readFileSync, writeFileSync } from 'node:fs';
import { NO_LEDGER } from '../../src/batch/accounting/request-ledger.ts';
import { NO_OUTCOMES, type Outcome } from '../../src/batch/outcome.ts';
import { begin } from '../../src/batch/state/state.ts';
import { progress, type Progress } from '../../src/batch/shown/progress.ts';
import { WRITES } from '../../src/batch/behaviour-version.ts';
import type { CreatedBatch } from '../../src/batches/make-batch.ts';
import { writeEvents } from '../../src/results/all-events.ts';
import { partName } from '../../src/results/parts.ts';
import { writeResults } from '../../src/results/results.ts';
import type { PartRecord } from '../../src/results/row-record.ts';
import { createStarted } from '../../src/store/started.ts';
import { paramsOf } from '../batch/params.ts';

const T = Date.UTC(2026, 10, 22, 10);
const time = (seconds: number): string => new Date(T + seconds * 1_000).toISOString();

const recordOf = (row: number, isFailed: boolean, failed: Outcome): PartRecord => ({
  row,
  outcome: isFailed ? failed : 'succeeded',
  ...(isFailed && { reason: 'the run failed at: KSampler' }),
  attempts: [
    {
      attempt: 1,
      outcome: isFailed ? 'failed' : 'succeeded',
      ...(isFailed && { failure: 'node-error', reason: 'the run failed at: KSampler' }),
      run_id: `run-${row}`,
      gpu_used: 'A10G',
      created_at: time(row),
      ended_at: time(row + 5),
      queue_seconds: 1,
      cold_start_seconds: 0,
      run_seconds: 4,
      cost_usd: 0.001,
    },
  ],
  files: [],
});

/** The last row ends as `last`. `isOver`: its results are written. */
export async function endBatch(
  { store, file }: CreatedBatch,
  isOver = true,
  last: Outcome = 'failed',
): Promise<void> {
  const { rows } = file.sheet;
  await createStarted(store, { at: time(0), workflow: { workflowId: 'w', runId: 'r' } });
  const records = Array.from({ length: rows }, (_, at) => recordOf(at + 1, at + 1 === rows, last));
  await store.write(partName(1, 1), records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  await writeEvents(store, 1, [
    { at: T + 500, event: 'paused', kind: 'user', by: 'me@here', reason: 'paused by me@here: lunch' },
    {
      at: T + 900,
      event: 'scaled',
      by: 'me@here',
      note: 'concurrency 4 → 8',
      limits: { concurrency: 8, startsPerMinute: 'none', deadlineAt: T },
    },
  ]);
  if (!isOver) return;
  await writeResults({
    confirm: async () => undefined,
    file,
    store,
    progress: publishedOf(rows, last),
    startedAt: T,
    endedAt: T + 60_000,
    reading: { lists: 'none', duplicates: { runs: 0, gpu_seconds: 0, cost_usd: 0, first: [] } },
    isEvidenceLost: false,
    throughPass: 1,
  });
}

const publishedOf = (rows: number, last: Outcome): Progress => ({
  ...progress(begin(paramsOf({ rows }), WRITES, 1_000)),
  tally: {
    outcomes: { ...NO_OUTCOMES, succeeded: rows - 1, [last]: 1 },
    gpus: { A10G: { runs: rows, seconds: rows * 4, costUsd: rows * 0.001 } },
  },
  ledger: { ...NO_LEDGER, sent: rows, accepted: rows },
});

/** Makes a succeeded row look as if its files could not be fetched. */
export async function loseFiles({ store }: CreatedBatch, row: number): Promise<void> {
  const [succeeded, failed] = [recordOf(row, false, 'failed'), { outcome: 'failed', files: [] }];
  const lost = { ...succeeded, ...failed, reason: 'outputs_missing: 404' };
  await store.write(partName(1, 2), `${JSON.stringify(lost)}\n`);
}

/** Changes batch.json as if its deployment had been deleted and created again. */
export function giveOtherId(path: string): void {
  const file = JSON.parse(readFileSync(path, 'utf8')) as { content: string; deployment: { id: string } };
  file.deployment.id = '0d2ab3c4-5e6f-4a7b-8c9d-0e1f2a3b4c5d';
  // The id of the deployment is part of the fingerprint that makes two batches the same.
  file.content = file.content.replace(/.$/, (end) => (end === '0' ? '1' : '0'));
  writeFileSync(path, JSON.stringify(file));
}
