// The spans of rows and batches, from what their records say. Trace and span ids are hashes of what they are about, so that
// a repeated activity writes the same spans, and the workers need not know each other's.
//
//   batch                            a trace of its own; rows link to it
//   row                              one trace for each time that it is in the batch (each place)
//   ├─ attempt 1 ── queued, cold start, run, webhook or poll
//   ├─ attempt 2 ── …
//   └─ download
//
// No span has a reason, because reasons may quote inputs.

import { hash } from 'node:crypto';
import type { BatchEnd, FetchedFiles } from '../../activities/deps.ts';
import { rowsDone } from '../batch/accounting/tally.ts';
import type { BatchName } from '../batch/batch-ref.ts';
import type { RunCompletion } from '../batch/events.ts';
import { placeOf, type AttemptRecord, type PartRecord } from '../results/row-record.ts';
import type { BatchFile } from '../store/batch-file.ts';

type Attributes = Readonly<Record<string, string | number>>;
type SpanId = { readonly traceId: string; readonly spanId: string };

export type Span = SpanId & {
  readonly parent?: SpanId;
  readonly link?: SpanId;
  readonly name: string;
  /** In milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
  readonly attributes: Attributes;
  readonly isError: boolean;
};

const TRACE_DIGITS = 32;
const SPAN_DIGITS = 16;

function idOf({ batch, mark }: BatchName, trace: readonly (string | number)[], ...span: (string | number)[]) {
  const digits = (count: number, ...of: unknown[]): string =>
    hash('sha256', JSON.stringify([batch, mark, ...of])).slice(0, count);
  return { traceId: digits(TRACE_DIGITS, trace), spanId: digits(SPAN_DIGITS, trace, span) };
}

const rowId = (name: BatchName, place: number): SpanId => idOf(name, ['row', place]);
const batchId = (name: BatchName): SpanId => idOf(name, ['batch']);
const attemptId = (name: BatchName, place: number, attempt: number): SpanId =>
  idOf(name, ['row', place], 'attempt', attempt);

export function batchSpan(file: BatchFile, { progress, startedAt, endedAt }: BatchEnd): Span {
  const { tally, costUsd, ledger } = progress;
  const bad = rowsDone(tally) - tally.outcomes.succeeded;
  return {
    ...batchId(file),
    name: `batch ${file.batch}`,
    ...between(startedAt, endedAt),
    attributes: {
      ...ofBatch(file),
      'runsheet.rows': progress.rows,
      'runsheet.rows_without_success': bad,
      'runsheet.duplicate_runs': ledger.duplicates,
      'runsheet.cost_usd': costUsd,
    },
    isError: bad > 0,
  };
}

const ofBatch = ({ batch, deployment }: BatchFile): Attributes => ({
  'runsheet.batch': batch,
  'runsheet.deployment': deployment.name ?? deployment.id,
});

/** `fetchedAt`: when its files were there, if this process fetched them. */
export type EndedRowFacts = { readonly key: string; readonly gpu?: string; readonly fetchedAt?: number };

/** The spans of a row and its attempts; none for a row without a run. */
export function rowSpans(file: BatchFile, record: PartRecord, facts: EndedRowFacts): readonly Span[] {
  const place = placeOf(record);
  // Earlier attempts belong to the place at which the row was sent then.
  const earlier = record.before?.attempts ?? 0;
  const attempts = record.attempts
    .slice(earlier)
    .map((one) => ({ ...one, attempt: one.attempt - earlier, ...timesOf(one) }))
    .filter((one) => one.from !== undefined && one.to !== undefined) as readonly Timed[];
  const [first, last] = [attempts[0], attempts.at(-1)];
  if (first === undefined || last === undefined) return [];
  const common = { ...ofBatch(file), 'runsheet.row': record.row, 'runsheet.key': facts.key };
  const gpu = record.gpu_asked ?? facts.gpu;
  const row: Span = {
    ...rowId(file, place),
    link: batchId(file),
    name: `row ${record.row}`,
    ...between(first.from, Math.max(last.to, facts.fetchedAt ?? 0)),
    attributes: {
      ...common,
      ...(gpu === undefined ? {} : { 'runsheet.gpu_asked': gpu }),
      'runsheet.outcome': record.outcome,
      'runsheet.attempts': record.attempts.length - earlier,
      'runsheet.cost_usd': attempts.reduce((sum, { cost_usd = 0 }) => sum + cost_usd, 0),
    },
    isError: record.outcome !== 'succeeded',
  };
  return [row, ...attempts.flatMap((one) => attemptSpans(file, place, one, common))];
}

type Timed = AttemptRecord & { readonly from: number; readonly to: number };

/** An attempt begins when the service created its run; services may name only some of the times. */
function timesOf({ created_at: created, ended_at: ended }: AttemptRecord) {
  const [from, to] = [created, ended].map((text) => (text === undefined ? undefined : Date.parse(text)));
  return { from: from ?? to, to: to ?? from };
}

function attemptSpans(name: BatchName, place: number, one: Timed, common: Attributes): readonly Span[] {
  const id = attemptId(name, place, one.attempt);
  const { queue_seconds: queue = 0, cold_start_seconds: boot = 0, run_seconds: run = 0 } = one;
  const child = (what: string, from: number, to: number): Span => ({
    ...idOf(name, ['row', place], 'attempt', one.attempt, what),
    parent: id,
    name: what,
    ...between(from, to),
    attributes: common,
    isError: false,
  });
  const taken = one.from + seconds(queue);
  return [
    {
      ...id,
      parent: rowId(name, place),
      name: `attempt ${one.attempt}`,
      ...between(one.from, one.to),
      attributes: { ...common, ...ofAttempt(one) },
      isError: one.outcome !== 'succeeded',
    },
    ...(queue > 0 ? [child('queued', one.from, taken)] : []),
    ...(boot > 0 ? [child('cold start', taken, taken + seconds(boot))] : []),
    ...(run > 0 ? [child('run', one.to - seconds(run), one.to)] : []),
  ];
}

const seconds = (count: number): number => Math.max(0, count) * 1000;

const ofAttempt = (one: AttemptRecord): Attributes => ({
  'runsheet.attempt': one.attempt,
  'runsheet.outcome': one.outcome,
  ...(one.run_id === undefined ? {} : { 'runsheet.run': one.run_id }),
  ...(one.gpu_asked === undefined ? {} : { 'runsheet.gpu_asked': one.gpu_asked }),
  ...(one.gpu_used === undefined ? {} : { 'runsheet.gpu_used': one.gpu_used }),
  ...(one.failure === undefined ? {} : { 'runsheet.failure': one.failure }),
  ...(one.cost_usd === undefined ? {} : { 'runsheet.cost_usd': one.cost_usd }),
});

export function downloadSpan(name: BatchName, fetched: FetchedFiles, to: number): Span {
  const { place, attempt, deferred, startedAt, result, bytes } = fetched;
  return {
    ...idOf(name, ['row', place], 'download', attempt, deferred),
    parent: rowId(name, place),
    name: 'download',
    ...between(startedAt, to),
    attributes: { 'runsheet.batch': name.batch, 'runsheet.result': result, 'runsheet.bytes': bytes },
    isError: result !== 'delivered',
  };
}

/** How the batch learned of the end of a run. */
export function reportSpan(
  name: BatchName,
  by: 'webhook' | 'poll',
  { place, attempt, runId }: Pick<RunCompletion, 'place' | 'attempt' | 'runId'>,
  times: { readonly from: number; readonly to: number },
): Span {
  return {
    ...idOf(name, ['row', place], 'attempt', attempt, by, runId),
    parent: attemptId(name, place, attempt),
    name: by,
    ...between(times.from, times.to),
    attributes: { 'runsheet.batch': name.batch, 'runsheet.run': runId },
    isError: false,
  };
}

/** A service with a wrong clock may report an end before the start. */
const between = (from: number, to: number) => ({ from, to: Math.max(from, to) });
