// Writes one part: up to a hundred rows that have their outcome, with the files of those that succeeded. The part is
// written in one piece at the end, so that doing it twice, or half and then again, makes the same files.

import { activityInfo, Context } from '@temporalio/activity';
import { costOf } from '../src/batch/gpu.ts';
import { reasonOf } from '../src/errors.ts';
import { partName } from '../src/batch/ids.ts';
import type { RowEnd } from '../src/batch/messages.ts';
import type { PastAttempt } from '../src/batch/outcome.ts';
import type { Tally } from '../src/batch/tally.ts';
import { tallyOf } from '../src/results/fold.ts';
import type { Run } from '../src/run-service/contract/run.ts';
import type { AttemptRecord, RowRecord } from '../src/results/record.ts';
import type { SheetRow } from '../src/sheet/pages.ts';
import { atOnce } from './at-once.ts';
import { onFolder } from './folder.ts';
import { downloadOutputs } from './download-outputs.ts';
import type { BatchPlace, Hands, OpenBatch } from './hands.ts';

export type PartOrder = BatchPlace & { readonly part: number; readonly rows: readonly RowEnd[] };

const ROWS_AT_ONCE = 16;

/**
 * Tries of this activity, half a minute apart in the end, after which a run that cannot be read holds the rest of its part
 * back no longer: more than an hour and a half.
 */
const LAST_RESORT = 200;

export function collect(hands: Hands, order: PartOrder): Promise<Tally> {
  return onFolder(() => writePart(hands, order));
}

async function writePart(hands: Hands, order: PartOrder): Promise<Tally> {
  const open = await hands.open(order);
  const rows = await hands.readRows(
    open.store,
    order.rows.map(({ row }) => row),
  );
  const stop = new AbortController();
  const signal = AbortSignal.any([Context.current().cancellationSignal, stop.signal]);
  try {
    // A row whose host is away holds the part back only when all others have their files.
    const settled = await atOnce(order.rows, ROWS_AT_ONCE, (end) =>
      recordOf(hands, open, end, { row: rows.get(end.row), signal }),
    );
    const records = settled.map((one) => {
      if (one instanceof HostAway) throw one;
      return one;
    });
    signal.throwIfAborted();
    await open.store.write(
      partName(order.part),
      records.map((record) => `${JSON.stringify(record)}\n`).join(''),
    );
    return tallyOf(records);
  } finally {
    stop.abort();
  }
}

/** Nothing is known about a row's files, so that the part is tried again. */
class HostAway extends Error {
  override readonly name = 'HostAway';
}

async function recordOf(
  hands: Hands,
  open: OpenBatch,
  end: RowEnd,
  { row, signal }: { readonly row: SheetRow | undefined; readonly signal: AbortSignal },
): Promise<RowRecord | HostAway> {
  if (row === undefined) throw new Error(`row ${end.row} is not in its page`);
  const attempts = await Promise.all(end.attempts.map((attempt) => attemptRecord(hands, open, attempt)));
  const last = end.attempts.at(-1);
  const delivery =
    last?.outcome === 'succeeded' && last.runId !== undefined
      ? await deliver(hands, open, { runId: last.runId, key: row.key, signal })
      : { outcome: outcomeOf(last), reason: last?.reason, files: [], texts: [] };
  if (delivery instanceof HostAway) return delivery;
  return {
    row: row.row,
    key: row.key,
    outcome: delivery.outcome,
    ...(delivery.reason === undefined ? {} : { reason: delivery.reason }),
    ...(row.gpu === undefined ? {} : { gpu_asked: row.gpu }),
    inputs: row.inputs,
    attempts,
    files: delivery.files,
    ...(delivery.texts.length > 0 ? { texts: delivery.texts } : {}),
  };
}

type Delivered = Pick<RowRecord, 'outcome' | 'files'> & {
  readonly reason?: string | undefined;
  readonly texts: readonly string[];
};

async function deliver(
  hands: Hands,
  { store, service }: OpenBatch,
  one: { readonly runId: string; readonly key: string; readonly signal: AbortSignal },
): Promise<Delivered | HostAway> {
  const delivery = await downloadOutputs(hands, { store, service, ...one });
  if (delivery.kind === 'delivered')
    return { outcome: 'succeeded', reason: delivery.note, files: delivery.files, texts: delivery.texts };
  const { kind, reason } = delivery;
  if (kind === 'host' && activityInfo().attempt < LAST_RESORT) return new HostAway(reason);
  return { outcome: 'failed', reason: `outputs_missing: ${reason}`, files: [], texts: [] };
}

/** A last attempt that was proved absent belongs to a row that was cancelled before it could be sent again. */
const outcomeOf = (last: PastAttempt | undefined): RowRecord['outcome'] =>
  last === undefined || last.outcome === 'absent' ? 'cancelled' : last.outcome;

async function attemptRecord(
  hands: Hands,
  { file, service }: OpenBatch,
  past: PastAttempt,
): Promise<AttemptRecord> {
  const { attempt, outcome, reason, runId } = past;
  const run = runId === undefined ? undefined : await usageRun(hands, service, runId);
  return {
    attempt,
    outcome,
    ...(reason === undefined ? {} : { reason }),
    ...(runId === undefined ? {} : { run_id: runId }),
    ...(run === undefined ? {} : usageOf(run, file.service.prices)),
  };
}

/** The run of an attempt; undefined where it cannot be read any more: its times must not hold a hundred rows back. */
async function usageRun(
  hands: Hands,
  service: OpenBatch['service'],
  runId: string,
): Promise<Run | undefined> {
  try {
    return await service.getRun(runId);
  } catch (error) {
    if (activityInfo().attempt < LAST_RESORT) throw error;
    hands.log.warn(
      { runId, reason: reasonOf(error) },
      'a run cannot be read; its times and its cost stay unknown',
    );
    return undefined;
  }
}

function usageOf(run: Run, prices: Readonly<Record<string, number>>): Partial<AttemptRecord> {
  const { gpu, createdAtMs, queuedAtMs, endedAtMs, coldStartSeconds, runSeconds } = run;
  return {
    ...(gpu === undefined ? {} : { gpu_used: gpu }),
    ...(createdAtMs === undefined ? {} : { created_at: new Date(createdAtMs).toISOString() }),
    ...(endedAtMs === undefined ? {} : { ended_at: new Date(endedAtMs).toISOString() }),
    ...(createdAtMs === undefined || queuedAtMs === undefined
      ? {}
      : { queue_seconds: (queuedAtMs - createdAtMs) / 1000 }),
    ...(coldStartSeconds === undefined ? {} : { cold_start_seconds: coldStartSeconds }),
    ...(runSeconds === undefined ? {} : { run_seconds: runSeconds }),
    cost_usd: costOf(prices, gpu, { coldStart: coldStartSeconds, run: runSeconds }),
  };
}
