// What a measured batch shows about the run service and about runsheet itself: how many machines there are, how they start, and
// how long a free slot stays empty.

import type { BatchFile } from '../../store/batch-file.ts';
import { startsOf, type Starts } from './cold-starts.ts';
import type { MeasuredAttempt, MeasuredBatch, RunTimes } from './measured-batch.ts';
import { medianOf, quantileOf } from './quantile.ts';

export type ServiceFacts = {
  readonly latencies: Latencies;
  /** The most runs that were executed at the same moment; 0 if the service says no times. */
  readonly peak: number;
  /** Whether runs waited while so many were executed: then there are no more machines. */
  readonly hasQueued: boolean;
  /** Starts by GPU. */
  readonly starts: ReadonlyMap<string, Starts>;
  /** Machines that were warm when the batch began, by GPU. */
  readonly warmAtStart: ReadonlyMap<string, number>;
  /** How long machines were busy, and runs waited for one, in milliseconds. */
  readonly busyMs: number;
  readonly queueMs: number;
};

/** In milliseconds. */
export type Latencies = {
  /** From the start of the batch to its first run. */
  readonly headMs: number;
  /** From the end of its last run to its end. */
  readonly tailMs: number;
  /** From the end of a run to the next one in its slot; sorted, never empty. */
  readonly turnaroundsMs: readonly number[];
  /** False if no slot was used twice. */
  readonly isTurnaroundMeasured: boolean;
  /** How long a free machine waits for the run that it gets: one that arrives, and one that waited. */
  readonly dispatchMs: number;
  readonly handoverMs: number;
};

type Timed = MeasuredAttempt & RunTimes & { readonly isFirst: boolean };

export function serviceFacts({ file, summary, rows, opening }: MeasuredBatch): ServiceFacts {
  const all = rows
    .slice(0, opening)
    .flatMap(({ attempts }) =>
      attempts.flatMap((attempt, at) =>
        attempt.times ? [{ ...attempt, ...attempt.times, isFirst: at === 0 }] : [],
      ),
    );
  const runs = all.toSorted((a, b) => a.createdAt - b.createdAt);
  const ended = runs.map(({ endedAt }) => endedAt).sort((a, b) => a - b);
  const { peak, openers } = peakOf(runs, ended);
  const starts = new Map(
    [...Map.groupBy(runs, ({ gpu }) => gpu)].map(([gpu, some]) => [
      gpu,
      startsOf(some.map(({ startMs }) => startMs)),
    ]),
  );
  const waits = runs.map((run) => run.takenAt - run.createdAt);
  const dispatchMs = Math.min(medianOf(openers.map((run) => run.takenAt - run.createdAt)), medianOf(waits));
  const queued = runs.filter((run) => run.takenAt - run.createdAt > dispatchMs + QUEUED_MS);
  const turnaroundsMs = turnaroundsOf(runs, ended, file);
  const isTurnaroundMeasured = turnaroundsMs.length > 0;
  return {
    peak,
    hasQueued: queued.length >= Math.max(1, runs.length * QUEUED_SHARE),
    starts,
    warmAtStart: warmAmong(openers, starts),
    busyMs: runs.reduce((sum, run) => sum + run.endedAt - run.takenAt, 0),
    queueMs: waits.reduce((sum, ms) => sum + ms, 0),
    latencies: {
      ...overheadOf(summary, runs, opening === rows.length ? (ended.at(-1) ?? 0) : undefined),
      turnaroundsMs: isTurnaroundMeasured ? turnaroundsMs : [usualTurnaround(file)],
      isTurnaroundMeasured,
      dispatchMs,
      handoverMs: medianOf(queued.map(({ takenAt }) => takenAt - lastBefore(ended, takenAt))),
    },
  };
}

/** A shorter wait is no queue; a few longer ones may have other reasons. */
const QUEUED_MS = 250;
const QUEUED_SHARE = 0.01;

/** `openers`: the runs that were the first to raise the number of runs executed together: they needed one more machine. */
function peakOf(
  runs: readonly Timed[],
  ended: readonly number[],
): { peak: number; openers: readonly Timed[] } {
  const openers: Timed[] = [];
  let [taken, ends] = [0, 0];
  for (const run of runs.toSorted((a, b) => a.takenAt - b.takenAt)) {
    taken += 1;
    while ((ended[ends] ?? Number.POSITIVE_INFINITY) <= run.takenAt) ends += 1;
    if (taken - ends > openers.length) openers.push(run);
  }
  return { peak: openers.length, openers };
}

function warmAmong(
  openers: readonly Timed[],
  starts: ReadonlyMap<string, Starts>,
): ReadonlyMap<string, number> {
  const warm = openers.filter(({ gpu, startMs }) => {
    const own = starts.get(gpu);
    return own !== undefined && own.coldMs.length > 0 && !own.isCold(startMs);
  });
  return new Map([...Map.groupBy(warm, ({ gpu }) => gpu)].map(([gpu, some]) => [gpu, some.length]));
}

/** The latest time that is not after `at`; both by the same clock. */
function lastBefore(sorted: readonly number[], at: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return sorted[low - 1] ?? at;
}

/** Outliers beyond this are pauses, not latencies. */
const PAUSE = { times: 10, ms: 2_000 };
/** If another limit than the slots held rows back, only the shortest times show the latency. */
const LIMITED_SHARE = 0.25;

/** The slot that has been free for longest is used first, so slots and runs need no names. */
function turnaroundsOf(runs: readonly Timed[], ended: readonly number[], file: BatchFile): readonly number[] {
  const found: number[] = [];
  for (const [at, { createdAt, isFirst }] of runs.entries()) {
    const freedAt = ended[at - file.concurrency];
    // A retry waits for its backoff, not for a slot.
    if (freedAt !== undefined && freedAt <= createdAt && isFirst) found.push(createdAt - freedAt);
  }
  found.sort((a, b) => a - b);
  const isLimited = file.startsPerMinute !== undefined || file.gpuConcurrency !== undefined;
  if (isLimited) return found.slice(0, Math.ceil(found.length * LIMITED_SHARE));
  const most = quantileOf(found, 0.5) * PAUSE.times + PAUSE.ms;
  return found.filter((ms) => ms <= most);
}

/** Without a measured one. */
const usualTurnaround = ({ webhooks, service }: BatchFile): number =>
  100 + (webhooks ? 0 : service.timing.pollIntervalMs / 2);

/** What a batch takes before its first and after its last run. Their sum does not depend on the clock of the service. */
function overheadOf(
  { started_at, seconds }: MeasuredBatch['summary'],
  runs: readonly Timed[],
  lastEnd: number | undefined,
): Pick<Latencies, 'headMs' | 'tailMs'> {
  const firstAt = runs[0]?.createdAt;
  if (firstAt === undefined || lastEnd === undefined) return { headMs: 1_000, tailMs: 1_000 };
  const overhead = Math.max(0, seconds * 1000 - (lastEnd - firstAt));
  const headMs = Math.min(overhead, Math.max(0, firstAt - Date.parse(started_at)));
  return { headMs, tailMs: overhead - headMs };
}
