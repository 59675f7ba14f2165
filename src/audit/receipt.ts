// Writes the receipt of an ended batch: its summary, a line for each row with its runs, the duplicate runs, and the sums. The
// same batch folder always gives the same receipt. Rows are read one by one, so that memory does not grow with the batch.

import { recordOf, rowsOf, type BatchRow } from '../results/batch-rows.ts';
import { KnownRuns } from './known-runs.ts';
import { readDuplicates } from '../results/duplicates.ts';
import { readLateRuns } from './late-runs.ts';
import { gpuSecondsOf, type AttemptRecord } from '../results/row-record.ts';
import type { DuplicateRun, Summary } from '../results/summary.ts';
import type { BatchFile } from '../store/batch-file.ts';
import { Pieces } from '../store/pieces.ts';
import type { Store } from '../store/store.ts';
import { Chain, type Content, type ContentOf } from './receipt-lines.ts';
import { ReceiptSums } from './receipt-sums.ts';

export const RECEIPT_FILE = 'receipt.jsonl';

export type ReceiptParams = { readonly store: Store; readonly file: BatchFile; readonly summary: Summary };

/** `sha256`: the hash of the last line; it stands for the whole receipt. */
export type WrittenReceipt = { readonly lines: number; readonly sha256: string };

/** Writes `name` in the store `into`. */
export async function writeReceipt(
  params: ReceiptParams,
  into: Store,
  name: string,
): Promise<WrittenReceipt> {
  const pieces = new Pieces(() => into.draft(name));
  const chain = new Chain();
  let lines = 0;
  try {
    for await (const content of contents(params)) {
      await pieces.add(`${chain.seal(content)}\n`);
      lines += 1;
    }
    await pieces.commit();
  } finally {
    await pieces.discard();
  }
  return { lines, sha256: chain.hash };
}

async function* contents(params: ReceiptParams): AsyncGenerator<Content> {
  const sums = new ReceiptSums();
  yield headOf(params);
  for await (const line of runLines(params)) {
    sums.add(line);
    yield line;
  }
  yield sums.total();
}

function headOf({ file, summary }: ReceiptParams): ContentOf<'batch'> {
  const { deployment, service } = file;
  return {
    kind: 'batch',
    receipt: 1,
    batch: file.batch,
    mark: file.mark,
    deployment: { id: deployment.id, ...(deployment.name === undefined ? {} : { name: deployment.name }) },
    service: { base: service.base, api: service.api, rehearsal: service.rehearsal },
    sheet_sha256: file.sheet.sha256,
    started_at: summary.started_at,
    ended_at: summary.ended_at,
    rows: summary.rows,
    outcomes: summary.outcomes,
    runs: summary.runs,
    bought_twice: summary.bought_twice,
    cost_usd: summary.cost_usd,
    total_cost_usd: summary.total_cost_usd,
    lists: summary.lists,
    unseen_runs_at_most: summary.unseen_runs_at_most,
  };
}

async function* runLines({ store, file }: ReceiptParams): AsyncGenerator<Content> {
  const named = new KnownRuns();
  for await (const row of rowsOf(store, file)) {
    const line = rowLine(row);
    for (const { run_id } of line.attempts) if (run_id !== undefined) named.add(run_id);
    yield line;
  }
  for await (const run of readDuplicates(store)) {
    named.add(run.run_id);
    yield duplicateLine(run);
  }
  // A run that was late at one end of the batch may be named by the next one.
  for await (const { row, attempt, run_id, outcome } of readLateRuns(store))
    if (!named.has(run_id)) yield { kind: 'late', row, attempt, run_id, outcome };
}

function rowLine(batchRow: BatchRow): ContentOf<'row'> {
  const { row, key, outcome, attempts } = recordOf(batchRow);
  return { kind: 'row', row, key, outcome, attempts: attempts.map(attemptOf) };
}

function attemptOf({
  attempt,
  outcome,
  run_id,
  gpu_used: gpu,
  cost_usd = 0,
  ...times
}: AttemptRecord): ContentOf<'row'>['attempts'][number] {
  const gpuSeconds = gpuSecondsOf(times);
  return {
    attempt,
    outcome,
    ...(run_id === undefined ? {} : { run_id }),
    ...(gpu === undefined ? {} : useOf(gpu, gpuSeconds, cost_usd)),
  };
}

function duplicateLine({ gpu, ...run }: DuplicateRun): ContentOf<'duplicate'> {
  const { row, attempt, run_id, status, gpu_seconds, cost_usd } = run;
  const use = gpu === undefined ? { gpu_seconds } : useOf(gpu, gpu_seconds, cost_usd);
  return { kind: 'duplicate', row, attempt, run_id, status, ...use };
}

/** Rounded, because binary fractions show digits that mean nothing. The price is the one that the cost was computed with. */
const useOf = (gpu: string, gpuSeconds: number, costUsd: number) => ({
  gpu,
  gpu_seconds: Number(gpuSeconds.toFixed(9)),
  ...(gpuSeconds === 0 ? {} : { usd_per_second: Number((costUsd / gpuSeconds).toPrecision(12)) }),
  cost_usd: Number(costUsd.toFixed(12)),
});
