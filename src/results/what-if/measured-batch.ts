// Reads what a finished batch has measured: its rows in sending order, with the run times of each attempt. Of a huge batch it
// reads the beginning and a part of the rest, because a million rows do not fit into memory.

import { createInterface } from 'node:readline';
import type { FailureKind } from '../../options/failure-kind.ts';
import { laneOf } from '../../batch/state/lanes.ts';
import type { BatchFile } from '../../store/batch-file.ts';
import type { Store } from '../../store/store.ts';
import { isReusedPart, partNames, PARTS } from '../parts.ts';
import { placeOf, type AttemptRecord, type PartRecord } from '../row-record.ts';
import type { Summary } from '../summary.ts';

/** Times in milliseconds since 1970, by the service's clock. */
export type RunTimes = { readonly createdAt: number; readonly takenAt: number; readonly endedAt: number };

export type MeasuredAttempt = {
  readonly outcome: 'succeeded' | 'failed' | 'timed-out' | 'refused';
  readonly failure?: FailureKind;
  readonly gpu: string;
  /** From the moment at which a machine took the run until the run began: a cold start, or almost nothing. */
  readonly startMs: number;
  readonly runMs: number;
  /** Absent if the service does not say them all, or refused the request. */
  readonly times?: RunTimes;
};

export type MeasuredRow = {
  /** The GPU that its lane asks for; undefined: the deployment's. */
  readonly asked: string | undefined;
  readonly attempts: readonly MeasuredAttempt[];
};

export type MeasuredBatch = {
  readonly file: BatchFile;
  readonly summary: Summary;
  /** In sending order, without rows that show nothing: reused, cancelled or unknown ones. */
  readonly rows: readonly MeasuredRow[];
  /** The first of them, without a gap. */
  readonly opening: number;
  /** How many such rows the batch has; more than `rows` if only a part was read. */
  readonly all: number;
};

/** What is read of a batch: its beginning, which shows how many runs were executed together, and rows from everywhere. */
const READ = { opening: 20_000, rows: 50_000 };

export async function readMeasured(store: Store, file: BatchFile, summary: Summary): Promise<MeasuredBatch> {
  const names = (await partNames(store)).filter((name) => !isReusedPart(name));
  const found = new Map<number, MeasuredRow>();
  const read = async (some: readonly string[], most: number): Promise<number> => {
    for (const [at, name] of some.entries()) {
      if (found.size >= most) return at;
      await readPart(store, `${PARTS}/${name}`, file, found);
    }
    return some.length;
  };
  const isWhole = summary.rows <= READ.rows;
  const parts = await read(names, isWhole ? Number.POSITIVE_INFINITY : READ.opening);
  const opening = inSendingOrder([...found.values()]);
  const rest = names.slice(parts);
  const stride = Math.max(1, Math.ceil(summary.rows / (READ.rows - READ.opening)));
  await read(
    rest.filter((_, at) => at % stride === 0),
    READ.rows,
  );
  const others = inSendingOrder([...found.values()].slice(opening.length));
  const all = isWhole ? opening.length : ranIn(summary, file);
  return { file, summary, rows: [...opening, ...others], opening: opening.length, all };
}

/** Rows that ran, as the summary counts them. */
const ranIn = ({ outcomes, rows }: Summary, { sheet }: BatchFile): number =>
  rows - (sheet.reused ?? 0) - outcomes.cancelled - outcomes.unknown;

const inSendingOrder = (rows: readonly MeasuredRow[]): readonly MeasuredRow[] =>
  rows.toSorted((a, b) => sentAt(a) - sentAt(b));

const sentAt = ({ attempts: [first] }: MeasuredRow): number => first?.times?.createdAt ?? 0;

async function readPart(
  store: Store,
  name: string,
  file: BatchFile,
  found: Map<number, MeasuredRow>,
): Promise<void> {
  for await (const line of createInterface({ input: store.open(name) })) {
    if (line === '') continue;
    const record = JSON.parse(line) as PartRecord;
    const attempts = record.attempts.flatMap(measuredAttempt);
    const hasEnded = record.outcome !== 'cancelled' && record.outcome !== 'unknown';
    const before = found.get(record.row);
    // A row that was sent again keeps the lane in which the sheet has it.
    const asked = before === undefined ? file.sheet.lanes[laneOf(placeOf(record))]?.gpu : before.asked;
    if (hasEnded && attempts.length > 0) found.set(record.row, { asked, attempts });
  }
}

/** An attempt without a run, or whose end is unknown, would be another one in another batch. */
function measuredAttempt(record: AttemptRecord): readonly MeasuredAttempt[] {
  const { outcome, failure, gpu_used: gpu, cold_start_seconds: start = 0, run_seconds: run = 0 } = record;
  if (outcome === 'refused') return [{ outcome, gpu: '', startMs: 0, runMs: 0 }];
  if (gpu === undefined || (outcome !== 'succeeded' && outcome !== 'failed' && outcome !== 'timed-out'))
    return [];
  const times = timesOf(record);
  return [
    {
      outcome,
      ...(failure === undefined ? {} : { failure }),
      gpu,
      // The dates of a service may contradict each other, so a difference may be negative.
      startMs: Math.max(0, start * 1000),
      runMs: Math.max(0, run * 1000),
      ...(times === undefined ? {} : { times }),
    },
  ];
}

function timesOf({ created_at, ended_at, queue_seconds }: AttemptRecord): RunTimes | undefined {
  if (created_at === undefined || ended_at === undefined || queue_seconds === undefined) return undefined;
  const createdAt = Date.parse(created_at);
  const takenAt = createdAt + Math.max(0, queue_seconds * 1000);
  return { createdAt, takenAt, endedAt: Math.max(takenAt, Date.parse(ended_at)) };
}
