// summary.json: the result of an ended batch. If it exists, the batch has ended.

import { jsonIn } from '../errors/outside-text.ts';
import { atRisk, knownRuns, type RequestLedger } from '../batch/accounting/request-ledger.ts';
import { costSoFar, type Tally } from '../batch/accounting/tally.ts';
import { OUTCOMES, type OutcomeCounts } from '../batch/outcome.ts';
import type { UsefulConcurrency } from '../batch/useful-concurrency.ts';
import type { Progress } from '../batch/shown/progress.ts';
import { problem } from '../errors/error.ts';
import type { DuplicateRun } from './duplicates-file.ts';
import { idleBefore, idleIn, shownIdle, type Idle, type ShownIdle } from './idle.ts';
import type { RefusedRow } from '../sheet/refused-rows.ts';
import { undelivered, type RowRecord } from './row-record.ts';
import { unpricedCount } from './tally-rows.ts';
import { SUMMARY_FILE, type BatchFile } from '../store/batch-file.ts';
import { passName, readPasses } from '../store/passes.ts';
import type { Store } from '../store/store.ts';
import type { WorkerCount } from '../store/workers.ts';
import { rounded } from '../options/text/printed-numbers.ts';
import { knownCost } from '../options/facts/prices.ts';

export type Summary = {
  readonly batch: string;
  /** The newest pass whose rows are in the results. */
  readonly pass: number;
  /** Whether the batch used the local run service. */
  readonly rehearsal: boolean;
  readonly deployment: string;
  readonly rows: number;
  readonly outcomes: OutcomeCounts;
  /** Rows among them that earlier batches bought. */
  readonly reused: number;
  /** The first ten refused rows: those that could not be read from the sheet, and those that the service refused. */
  readonly refused?: readonly RefusedRow[];
  /** Runs that rows name. */
  readonly runs: number;
  /** Duplicate runs that were seen; {@link Summary.unseen_runs_at_most} more are possible. */
  readonly bought_twice: number;
  readonly started_at: string;
  readonly ended_at: string;
  /** From start to end, without the idle times. */
  readonly seconds: number;
  /** Each time between an end and the next pass. */
  readonly idle: ShownIdle;
  /** Absent without prices, like all costs, and null if none is known. An estimate: cold start and run seconds at the price of the GPU used, for all runs that rows name. */
  readonly cost_usd?: number | null;
  /** The cost including duplicate runs. */
  readonly total_cost_usd?: number | null;
  /** Rows whose runs were paid for although their files were not delivered. */
  readonly undelivered: { readonly rows: number; readonly cost_usd?: number };
  /** Rows whose run was executed again because its machine was lost: how often, and the seconds in vain, which `gpus` has too. */
  readonly executed_again?: { readonly rows: number; readonly executions: number; readonly seconds: number };
  /** Attempts that may have cost more than `cost_usd` includes, or anything at all. */
  readonly unpriced: number;
  readonly gpus: Readonly<
    Record<string, { readonly runs: number; readonly seconds: number; readonly cost_usd?: number | null }>
  >;
  /** With a ladder: what the runs below the last rung of their rows used; part of `gpus`. */
  readonly climbing?: { readonly runs: number; readonly seconds: number; readonly cost_usd?: number };
  /** With -c auto: the useful concurrency by GPU; null is a GPU that the service does not name. */
  readonly useful_concurrency?: readonly {
    readonly gpu: string | null;
    /** For rows that ask for no GPU. */
    readonly is_default: boolean;
    readonly concurrency: number;
    /** Whether runs queued or were turned away above it, none did so far, or the service shows no queueing times. */
    readonly basis: UsefulConcurrency['basis'];
  }[];
  /** Queue Run calls by their result. */
  readonly requests: RequestLedger;
  /** How completely the run list was read at the end; see {@link LastReading}. */
  readonly lists: LastReading['lists'];
  /** Runs of the batch that no row names: second runs of an attempt, or runs of an attempt that was abandoned. */
  readonly duplicates: LastReading['duplicates'];
  /** Whether the workflow had to drop runs known from webhooks: without run lists, duplicates may be missing. */
  readonly is_evidence_lost: boolean;
  /** Requests that may have started a run that neither a webhook nor a run list has shown. */
  readonly unseen_runs_at_most: number;
} & Partial<WorkerCount>;

/** The final reading of the run list, after all rows had an outcome. */
export type LastReading = {
  readonly lists: 'complete' | 'incomplete' | 'none';
  readonly duplicates: {
    readonly runs: number;
    readonly gpu_seconds: number;
    readonly cost_usd?: number;
    /** The first duplicates; duplicates.jsonl has all. */
    readonly first: readonly DuplicateRun[];
  };
};

/** The end of a batch; times in milliseconds since 1970 by Temporal's clock. */
export type EndedBatch = {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly reading: LastReading;
  readonly isEvidenceLost: boolean;
  readonly throughPass: number;
};

type Worked = EndedBatch & { readonly workers?: WorkerCount | undefined; readonly idle: readonly Idle[] };

type SummedRecord = Pick<
  RowRecord,
  'row' | 'key' | 'outcome' | 'reason' | 'attempts' | 'result_attempt' | 'reused_from'
>;

const MAX_REFUSED = 10;

/** Facts that only the rows contain. */
export class RowFacts {
  #reused = 0;
  #undelivered = 0;
  #costUsd = 0;
  #unpriced = 0;
  readonly #again = { rows: 0, executions: 0, seconds: 0 };
  readonly #refused: RefusedRow[] = [];

  add(record: SummedRecord): void {
    const { row, key, reason = '' } = record;
    if (record.outcome === 'refused' && this.#refused.length < MAX_REFUSED)
      this.#refused.push({ row, key, reason });
    if (record.reused_from !== undefined) this.#reused += 1;
    const paid = undelivered(record);
    if (paid !== undefined) {
      this.#undelivered += 1;
      this.#costUsd += paid.cost_usd ?? 0;
    }
    const executions = record.attempts.reduce((sum, { lost_executions: lost = 0 }) => sum + lost, 0);
    this.#again.rows += Number(executions > 0);
    this.#again.executions += executions;
    for (const { lost_seconds: lost = 0 } of record.attempts) this.#again.seconds += lost;
    this.#unpriced += unpricedCount(record.attempts);
  }

  get all(): Pick<Summary, 'reused' | 'refused' | 'undelivered' | 'executed_again' | 'unpriced'> {
    const lost = { rows: this.#undelivered, cost_usd: rounded(this.#costUsd) };
    const again = { ...this.#again, seconds: rounded(this.#again.seconds) };
    return {
      reused: this.#reused,
      ...(this.#refused.length > 0 && { refused: this.#refused }),
      undelivered: lost,
      ...(again.rows > 0 && { executed_again: again }),
      unpriced: this.#unpriced,
    };
  }
}

export function summaryOf(
  file: BatchFile,
  progress: Progress,
  ended: Worked,
  rows = new RowFacts(),
): Summary {
  const { startedAt, endedAt, reading, isEvidenceLost, throughPass, idle } = ended;
  const { tally, ledger } = progress;
  const cost = rounded(costSoFar(tally));
  const { unpriced } = rows.all;
  return {
    batch: file.batch,
    pass: throughPass,
    rehearsal: file.service.rehearsal,
    deployment: file.deployment.name ?? file.deployment.id,
    rows: progress.rows,
    outcomes: tally.outcomes,
    ...rows.all,
    runs: knownRuns(ledger),
    bought_twice: reading.duplicates.runs,
    total_cost_usd: knownCost(rounded(cost + (reading.duplicates.cost_usd ?? 0)), unpriced),
    ...ended.workers,
    started_at: new Date(startedAt).toISOString(),
    ended_at: new Date(endedAt).toISOString(),
    seconds: (endedAt - startedAt - idleBefore(idle, endedAt)) / 1000,
    idle: shownIdle(idle),
    cost_usd: knownCost(cost, unpriced),
    gpus: gpuUse(tally, unpriced),
    ...climbingOf(file, tally),
    ...usefulIn(file, progress),
    requests: ledger,
    lists: reading.lists,
    duplicates: reading.duplicates,
    is_evidence_lost: isEvidenceLost,
    unseen_runs_at_most: unseenAtMost(ledger, reading.lists),
  };
}

export const gpuUse = ({ gpus }: Tally, unpriced: number | undefined): Summary['gpus'] =>
  Object.fromEntries(
    Object.entries(gpus).map(([gpu, { runs, seconds, costUsd }]) => [
      gpu,
      { runs, seconds, cost_usd: knownCost(rounded(costUsd), unpriced) },
    ]),
  );

function climbingOf({ sheet }: BatchFile, { climbing }: Tally): Pick<Summary, 'climbing'> {
  if (sheet.options.ladder === undefined) return {};
  const { runs, seconds, costUsd } = climbing ?? { runs: 0, seconds: 0, costUsd: 0 };
  return { climbing: { runs, seconds, cost_usd: rounded(costUsd) } };
}

const usefulIn = (
  { deployment }: BatchFile,
  { useful }: Progress,
): Pick<Summary, 'useful_concurrency'> | undefined =>
  useful && {
    useful_concurrency: useful.map(({ gpu, concurrency, basis }) => ({
      gpu: gpu ?? deployment.gpu ?? null,
      is_default: gpu === undefined,
      concurrency,
      basis,
    })),
  };

/** A complete run list shows every run. Without one, only the service's refusal, such as 429, says that there is no run. */
function unseenAtMost(ledger: RequestLedger, lists: LastReading['lists']): number {
  if (lists === 'complete') return 0;
  return atRisk(ledger) + ledger.throttled + ledger.blocked;
}

/** undefined until the batch has ended, and while its rows are sent again. Throws E504 if it cannot be read. */
export async function readSummary(store: Store): Promise<Summary | undefined> {
  const summary = await readLatestSummary(store);
  const isOver = summary !== undefined && !(await store.exists(passName(summary.pass + 1)));
  return isOver ? summary : undefined;
}

/** The summary of the latest end, even while rows are sent again. Throws E504 if it cannot be read. */
export async function readLatestSummary(store: Store): Promise<Summary | undefined> {
  const text = await store.read(SUMMARY_FILE);
  return text === undefined ? undefined : parsed(text, `${store.location}/${SUMMARY_FILE}`);
}

/** The pass through which the batch has ended; undefined before its first end. */
export async function summarizedPass(store: Store): Promise<number | undefined> {
  return (await readLatestSummary(store))?.pass;
}

/** The end that a pass continues; undefined before the first end, and once the batch has ended with this pass. */
export async function endBefore(store: Store, pass: number): Promise<number | undefined> {
  const ended = await summarizedPass(store);
  return ended !== undefined && ended < pass ? ended : undefined;
}

function parsed(text: string, place: string): Summary {
  try {
    const summary = JSON.parse(text) as Summary;
    const core: readonly unknown[] = [summary.outcomes, summary.requests, summary.duplicates];
    if (core.every((part) => typeof part === 'object' && part !== null)) return summary;
  } catch (cause) {
    throw unreadable(place, cause);
  }
  throw unreadable(place);
}

const unreadable = (place: string, cause?: unknown) =>
  problem('E504', { what: `${place} is not the summary of a batch` }, { cause });

/**
 * Replaces the summary of this or an earlier pass. Calls `confirm` after reading the existing summary; `confirm` throws if another
 * worker writes the summary now.
 */
export const writeSummary = (
  store: Store,
  summary: Summary,
  confirm: () => Promise<void> = async () => undefined,
): Promise<void> =>
  store.update(SUMMARY_FILE, async (current) => {
    await confirm();
    const existing = jsonIn(current ?? '') as Partial<Summary> | undefined;
    if ((existing?.pass ?? 0) > summary.pass) return undefined;
    return `${JSON.stringify(summary, undefined, 2)}\n`;
  });

export const notSucceeded = ({ outcomes }: Pick<Summary, 'outcomes'>): number =>
  OUTCOMES.reduce((sum, outcome) => sum + outcomes[outcome], 0) - outcomes.succeeded;

/** The flags of `retry` for the rows that may be sent again; undefined without such rows. Refused rows would be refused again, and rows of unknown outcome may have been paid for. */
export function retryOf({ outcomes }: Pick<Summary, 'outcomes'>): string | undefined {
  if (outcomes.failed + outcomes['timed-out'] > 0) return '';
  return outcomes.cancelled > 0 ? '--outcome cancelled' : undefined;
}

/** The idle times until the end of pass `through`, in order; repeatable for the same pass. */
export async function idleTimes(store: Store, through: number, endedAt: number): Promise<readonly Idle[]> {
  const earlier = await readLatestSummary(store);
  if (earlier === undefined) return [];
  const earlierIdle = idleIn(earlier.idle);
  if (earlier.pass >= through) return earlierIdle;
  const [next] = await readPasses(store, earlier.pass, through);
  const from = Date.parse(earlier.ended_at);
  // The pass took its time from another clock.
  const to = next === undefined ? from : Math.min(Date.parse(next.at), endedAt);
  return to > from ? [...earlierIdle, { from, to }] : earlierIdle;
}
