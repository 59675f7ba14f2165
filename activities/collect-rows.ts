// Writes one part: up to a hundred rows with an outcome, and the files of rows that succeeded. A part is created
// once, as a whole, and never changes: a retry that finds it returns its content. A row whose files cannot be
// downloaded now is deferred.

import { definedOnly } from '../src/options/defined-only.ts';
import { Context } from '@temporalio/activity';
import pMap from 'p-map';
import type { BatchRef } from '../src/batch/workflow-ids.ts';
import type { DeferredRow, PartResult } from '../src/batch/events.ts';
import type { PastAttempt } from '../src/batch/outcome.ts';
import type { EndedRow } from '../src/batch/state/row-state.ts';
import { errorMessage } from '../src/errors/error.ts';
import { costOf, priceOf } from '../src/options/facts/prices.ts';
import { recordOf, recordsBefore } from '../src/results/batch-rows.ts';
import { showPart } from '../src/results/page/living-page.ts';
import { outputNames, type OutputNames } from '../src/results/output-paths.ts';
import { parsePart, partName } from '../src/results/parts.ts';
import {
  recordAgain,
  type AttemptRecord,
  isFetched,
  type PartRecord,
  placeOf,
  whyMissing,
} from '../src/results/row-record.ts';
import { runCostsIn, tallyChange, unpricedIn } from '../src/results/tally-rows.ts';
import type { Run } from '../src/service-client/contract/run.ts';
import { type KnownRun, outcomeOf as stateOf } from '../src/service-client/run-outcome.ts';
import type { PlacedRow } from '../src/sheet/placed-rows.ts';
import { isCostLearned } from '../src/store/attempt-cost-bound.ts';
import { reportedCost } from '../src/store/reported-cost.ts';
import { jsonLines } from '../src/store/pieces.ts';
import type { Deps, OpenBatch } from './deps.ts';
import { downloadOutputs } from './download-outputs.ts';
import { confirmHeld } from './owner-check.ts';
import { StoreConflict, withStore } from './activity-failures.ts';

export type CollectInput = BatchRef & {
  readonly pass: number;
  readonly part: number;
  readonly rows: readonly EndedRow[];
};

const CONCURRENCY = 16;

export function collectRows(deps: Deps, input: CollectInput): Promise<PartResult> {
  return withStore(async () => {
    const open = await deps.open(input);
    const name = partName(input.pass, input.part);
    const before = await open.store.read(name);
    if (before !== undefined) return resultOf({ open, input, name }, parsePart(before), []);
    return writePart(deps, open, input, name);
  });
}

async function writePart(
  deps: Deps,
  open: OpenBatch,
  input: CollectInput,
  name: string,
): Promise<PartResult> {
  // A stopping worker does not wait for slow files; another worker fetches them.
  const signal = AbortSignal.any([Context.current().cancellationSignal, deps.posts.stopping]);
  const pageRows = await deps.readRows(
    open,
    input.rows.map(({ place }) => place),
  );
  const recordBefore = recordsBefore(open.store);
  const slow: RecordParams['slow'] = {};
  const collected = await pMap(
    input.rows,
    (ended) =>
      recordRow(deps, open, {
        ended,
        row: pageRows.get(ended.place),
        recordBefore,
        pass: input.pass,
        signal,
        slow,
      }),
    { concurrency: CONCURRENCY, signal },
  );
  const records = collected.filter((result) => !('kind' in result));
  const deferred = collected.filter((result) => 'kind' in result);
  // If Temporal has abandoned this attempt of the activity, another attempt may be writing.
  signal.throwIfAborted();
  const text = jsonLines(records);
  const own = parsePart(text);
  // Fetching the files may have taken long.
  await confirmHeld(deps, input);
  await showPart(open, input, shownRows(own, pageRows, open.file));
  const isNew = await open.store.create(name, text);
  const written = isNew ? own : parsePart((await open.store.read(name)) ?? '');
  return resultOf({ open, input, name }, written, deferred);
}

/** The rows of the part as the page of the batch shows them. */
const shownRows = (
  records: readonly PartRecord[],
  rows: ReadonlyMap<number, PlacedRow>,
  file: Pick<OpenBatch['file'], 'sheet'>,
) =>
  records.flatMap((record) => {
    const row = rows.get(placeOf(record));
    return row === undefined ? [] : [recordOf({ row, record }, file)];
  });

type Collecting = {
  readonly open: Pick<OpenBatch, 'file'>;
  readonly input: CollectInput;
  readonly name: string;
};

/** The result from an existing part; its missing rows are deferred. Throws {@link StoreConflict} if the part has other rows. */
function resultOf(
  { open, input: { rows }, name }: Collecting,
  records: readonly PartRecord[],
  deferred: readonly DeferredRow[],
): PartResult {
  const { ladder = [] } = open.file.sheet.options;
  const places = new Set(rows.map(({ place }) => place));
  const stray = records.find((record) => !places.has(placeOf(record)));
  if (stray !== undefined)
    throw new StoreConflict(`${name} already exists, with row ${stray.row}, which belongs in another part`);
  const written = new Set(records.map(placeOf));
  const missing = rows.filter(({ place }) => !written.has(place));
  const reasons = new Map(deferred.map((row) => [row.place, row]));
  const unpriced = records.flatMap((record) =>
    unpricedIn(record).map(({ gpu_asked = '' }) => ({
      place: placeOf(record),
      rung: ladder.indexOf(gpu_asked),
    })),
  );
  const isLearned = open.file.reserve !== undefined || isCostLearned(open.file);
  const costs = isLearned ? records.flatMap((record) => runCostsIn(record, ladder)) : [];
  return {
    tally: tallyChange(records),
    ...(costs.length === 0 ? {} : { costs }),
    ...(unpriced.length === 0 ? {} : { unpriced: unpriced.map(({ place }) => place) }),
    ...(unpriced.length === 0 || ladder.length === 0
      ? {}
      : { unpricedRungs: unpriced.map(({ rung }) => rung) }),
    again: records.filter(({ before }) => before !== undefined).length,
    fetched: records.filter(isFetched).length,
    deferred: missing.map(
      ({ place }) => reasons.get(place) ?? { place, kind: 'host', reason: 'another try wrote the part' },
    ),
  };
}

type RecordParams = {
  readonly ended: EndedRow;
  readonly row: PlacedRow | undefined;
  /** The record of a row from before it was sent again. */
  readonly recordBefore: (row: PlacedRow) => Promise<PartRecord | undefined>;
  readonly pass: number;
  readonly signal: AbortSignal;
  /** The reason of the first download in the part that had to wait long for its host. */
  readonly slow: { host?: string };
};

/** Returns the record, or the reason why the row is deferred. Throws the store's errors. */
async function recordRow(deps: Deps, open: OpenBatch, params: RecordParams) {
  const { ended, row } = params;
  if (row === undefined) throw new Error(`place ${ended.place} is in no page`);
  const before = await params.recordBefore(row);
  if (row.fetch !== undefined && before !== undefined) return recordFetched(deps, open, params, before);
  const usage = await readUsage(open, ended);
  if ('kind' in usage && !ended.isLastTry) return usage;
  const attempts = ended.attempts.map((attempt) =>
    attemptRecord(open, ended, attempt, 'kind' in usage ? undefined : usage),
  );
  const edition = editionOf(params.pass, before);
  const names = outputNames(open.file.sheet.rows, row, edition);
  const delivered = await deliver(deps, open, params, names);
  if ('kind' in delivered) return delivered;
  const { outcome, reason, files, texts } = delivered;
  const record = {
    ...placeOfRecord(ended, row),
    // A row of a ladder asked for the rung of its last attempt.
    ...definedOnly({ gpu_asked: attempts.at(-1)?.gpu_asked, outcome, reason, attempts, files }),
    ...(texts.length > 0 ? { texts } : {}),
    ...(row.change === undefined ? {} : { change: row.change }),
  };
  return row.before === undefined ? record : recordAgain(before, record);
}

/** The record of a row whose files are fetched again: its attempts and their cost stay, because nothing was bought. */
async function recordFetched(
  deps: Deps,
  open: OpenBatch,
  params: RecordParams,
  before: PartRecord,
): Promise<PartRecord | DeferredRow> {
  const { ended, row } = params;
  if (row === undefined) throw new Error(`place ${ended.place} is in no page`);
  const names = outputNames(open.file.sheet.rows, row, editionOf(params.pass, before));
  const delivered = await deliver(deps, open, params, names);
  if ('kind' in delivered) return delivered;
  const had = { outcome: before.outcome, attempts: before.attempts.length };
  const { place: _, reason: __, ...unplaced } = before;
  const kept = { ...unplaced, ...placeOfRecord(ended, row), before: had };
  const { outcome, reason, files, texts } = delivered;
  if (outcome !== 'succeeded') return { ...kept, reason: whyMissing(reason ?? outcome) };
  const note = reason === undefined ? {} : { reason };
  return { ...kept, outcome, ...note, files, ...(texts.length > 0 ? { texts } : {}) };
}

function placeOfRecord(
  { place }: EndedRow,
  { row, gpu, before }: PlacedRow,
): Pick<PartRecord, 'row' | 'place' | 'gpu_asked'> {
  return {
    row,
    ...(place === row ? {} : { place }),
    ...(gpu === undefined || (place === row && before === undefined) ? {} : { gpu_asked: gpu }),
  };
}

/** Files of a rebuilt batch, or of a row that is sent again, must not replace files that an earlier record names. */
function editionOf(pass: number, before: PartRecord | undefined): string {
  const rebuilt = pass === 1 ? [] : [`${pass}`];
  const again = before === undefined ? [] : [`after-${before.attempts.length}`];
  return [...rebuilt, ...again].join('-');
}

type Usage = ReadonlyMap<string, KnownRun | undefined>;

/** The runs of all attempts; a run that the service no longer has is undefined. */
async function readUsage(
  { service }: OpenBatch,
  { place, attempts }: EndedRow,
): Promise<Usage | DeferredRow> {
  const runIds = attempts.flatMap(({ runId }) => runId ?? []);
  try {
    const runs = await Promise.all(runIds.map((runId) => service.getRun(runId)));
    const isOther = runs.some((run, at) => run !== undefined && run.id !== runIds[at]);
    if (!isOther) return new Map(runIds.map((runId, at) => [runId, runs[at]]));
    for (const runId of runIds) service.forget(runId);
    return { place, kind: 'host', reason: 'the service returned another run' };
  } catch (error) {
    return { place, kind: 'host', reason: errorMessage(error) };
  }
}

/** If a row waits longer than this for its files, the other rows of the part are deferred as well. */
const SLOW_HOST_MS = 25_000;

type Delivered = Pick<PartRecord, 'outcome' | 'files'> & {
  readonly reason?: string | undefined;
  readonly texts: readonly string[];
};

async function deliver(
  deps: Deps,
  { file, store, service }: OpenBatch,
  { ended, signal, slow }: RecordParams,
  names: OutputNames,
): Promise<Delivered | DeferredRow> {
  const last = ended.attempts.at(-1);
  if (last?.outcome !== 'succeeded' || last.runId === undefined)
    return { outcome: outcomeOf(last), reason: last?.reason, files: [], texts: [] };
  const wanted = { store, service, runId: last.runId, names, signal };
  const batch = `${file.batch}~${file.mark}`;
  let startedAt = Date.now();
  const delivery = await deps.downloadSlots.run(batch, signal, async () => {
    // Otherwise every row of the part would wait as long for the same host before the batch learns of it.
    const slowHost = ended.isLastTry ? undefined : slow.host;
    if (slowHost !== undefined) return slowHost;
    startedAt = Date.now();
    return downloadOutputs(deps, wanted);
  });
  if (typeof delivery === 'string') return { place: ended.place, kind: 'host', reason: delivery };
  if (delivery.kind === 'delivered')
    return { outcome: 'succeeded', reason: delivery.note, files: delivery.files, texts: delivery.texts };
  const { kind } = delivery;
  const reason = delivery.kind === 'host' ? `${delivery.host}: ${delivery.reason}` : delivery.reason;
  const waitedMs = Date.now() - startedAt;
  const isSlow = kind === 'host' && waitedMs >= SLOW_HOST_MS;
  if (isSlow) slow.host ??= reason;
  const isEmpty = delivery.kind === 'file' && delivery.isEmpty === true;
  if (!ended.isLastTry)
    return { place: ended.place, kind, reason, ...(isSlow && { waitedMs }), ...(isEmpty && { isEmpty }) };
  return { outcome: 'failed', reason: whyMissing(reason), files: [], texts: [] };
}

/** If the last attempt was proved absent, the row was cancelled before it could be sent again. */
const outcomeOf = (last: PastAttempt | undefined): PartRecord['outcome'] =>
  last === undefined || last.outcome === 'absent' ? 'cancelled' : last.outcome;

function attemptRecord(
  { file }: OpenBatch,
  ended: EndedRow,
  past: PastAttempt,
  usage: Usage | undefined,
): AttemptRecord {
  const { attempt, outcome, reason, runId, rung } = past;
  const gpuAsked = rung === undefined ? undefined : file.sheet.options.ladder?.[rung];
  const run = runId === undefined ? undefined : usage?.get(runId);
  return {
    ...definedOnly({ attempt, outcome, reason, run_id: runId, gpu_asked: gpuAsked }),
    ...(isBelow(ended, past) ? { climbed: true as const } : {}),
    ...(run?.failure === undefined ? {} : { failure: run.failure.kind }),
    ...(run === undefined ? {} : usageOf(run, file)),
    ...(runId !== undefined && !isPriced(run, file.service.prices) ? { cost_incomplete: true as const } : {}),
  };
}

/** Whether the attempt failed below the rung on which its row ended. */
const isBelow = ({ attempts }: EndedRow, { outcome, rung = 0 }: PastAttempt): boolean =>
  (outcome === 'failed' || outcome === 'timed-out') && rung < (attempts.at(-1)?.rung ?? 0);

/** Whether the run's record contains everything that its cost depends on. A run that no machine took cost nothing. */
function isPriced(run: Run | undefined, prices: Readonly<Record<string, number>>): boolean {
  if (run === undefined || stateOf(run).kind !== 'ended') return false;
  if (run.costUsd !== undefined) return true;
  const { status, gpu, queuedAtMs, startedAtMs, coldStartSeconds = -1, runSeconds = -1 } = run;
  const wasTaken = queuedAtMs !== undefined || startedAtMs !== undefined || runSeconds > 0;
  if (status === 'cancelled' && !wasTaken) return true;
  const hasPrice = gpu !== undefined && priceOf(prices, gpu) !== undefined;
  return hasPrice && coldStartSeconds >= 0 && runSeconds >= 0;
}

function usageOf(run: Run, file: OpenBatch['file']): Partial<AttemptRecord> {
  const { prices } = file.service;
  const { gpu, createdAtMs, queuedAtMs, endedAtMs, coldStartSeconds, runSeconds, lostSeconds } = run;
  const waitedMs =
    createdAtMs === undefined || queuedAtMs === undefined ? undefined : queuedAtMs - createdAtMs;
  return definedOnly({
    gpu_used: gpu,
    created_at: createdAtMs === undefined ? undefined : new Date(createdAtMs).toISOString(),
    ended_at: endedAtMs === undefined ? undefined : new Date(endedAtMs).toISOString(),
    queue_seconds: waitedMs === undefined ? undefined : waitedMs / 1000,
    cold_start_seconds: coldStartSeconds,
    run_seconds: runSeconds,
    lost_executions: run.lostExecutions,
    lost_seconds: lostSeconds,
    cost_usd:
      reportedCost(file, run) ??
      costOf(prices, gpu, { coldStart: coldStartSeconds, run: runSeconds, lost: lostSeconds }),
  });
}
