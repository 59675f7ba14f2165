// Finds duplicate runs when a batch ends (R13). Compares every run with a token of the batch, from the run list and
// from webhooks, with the runs that rows name. A run that no row names is a duplicate: a second run of an attempt, or
// a run of an abandoned attempt. It costs money, so it is reported.

import type { ReadBack } from '../batch/commands.ts';
import type { AttemptRef, AttemptRun } from '../batch/outcome.ts';
import { costOf } from '../options/facts/prices.ts';
import { reportedCost } from '../store/reported-cost.ts';
import { errorMessage } from '../errors/error.ts';
import type { RunService } from '../service-client/client.ts';
import type { Run } from '../service-client/contract/run.ts';
import { isTerminal } from '../service-client/contract/statuses.ts';
import { gpuSecondsOf } from '../results/row-record.ts';
import type { DuplicateRun } from '../results/duplicates-file.ts';
import type { LastReading } from '../results/summary.ts';
import type { BatchFile } from '../store/batch-file.ts';
import { KnownRuns } from './known-runs.ts';
import { ListReach } from './list-reach.ts';
import { NoList, listRuns, ownRun, type ListParams, leastShown } from './list-runs.ts';
import { rounded } from '../options/text/printed-numbers.ts';

export type ReadingParams = Omit<ListParams, 'service' | 'workflowId' | 'reach'> & {
  readonly file: BatchFile;
  readonly service: Pick<RunService, 'listRuns' | 'nowMs' | 'cancelRun' | 'getRun'>;
  readonly known: Pick<KnownRuns, 'has' | 'size' | 'firstEnded'>;
  /** Whether rows name the run of every attempt: none was abandoned, and no rebuild has forgotten any. */
  readonly isAccounted: boolean;
  readonly evidence: AsyncIterable<AttemptRun>;
  /** Duplicates that an earlier end of the batch reported; the lists may no longer show them. */
  readonly earlier?: AsyncIterable<DuplicateRun>;
  /** Called before duplicates that still run are cancelled, unless it throws; absent: none is cancelled. */
  readonly beforeCancel?: () => Promise<void>;
  /** The row and attempt under which people know the run. */
  readonly nameOf: (attempt: AttemptRef) => Promise<{ readonly row: number; readonly attempt: number }>;
  readonly onDuplicate: (run: DuplicateRun) => Promise<void>;
};

/** `runs`: listed runs with a token of the batch; `reason`: why the list could not be read completely. */
export type ListedRuns = LastReading & { readonly runs: number; readonly reason?: string };

const MAX_FIRST = 1_000;

/** Reads the lists a last time. Never throws for errors of the service; the result says what could not be read. */
export async function readLast(params: ReadingParams): Promise<ListedRuns> {
  const seen = new KnownRuns();
  const report = openReport(params, seen);
  let lists: LastReading['lists'] = 'complete';
  let reason: string | undefined;
  try {
    await readLists(params, seen, report.note);
  } catch (error) {
    params.signal?.throwIfAborted();
    lists = error instanceof NoList ? 'none' : 'incomplete';
    reason = errorMessage(error);
  }
  const runs = seen.size;
  for await (const run of params.evidence) {
    params.signal?.throwIfAborted();
    await report.note(run, undefined);
  }
  for await (const run of params.earlier ?? []) {
    params.signal?.throwIfAborted();
    await report.keep(run);
  }
  return { lists, runs, duplicates: report.report(), ...(reason === undefined ? {} : { reason }) };
}

/** Throws unless the lists show every run of the batch. */
async function readLists(
  params: ReadingParams,
  seen: KnownRuns,
  note: (named: AttemptRun, listed: Run) => Promise<void>,
): Promise<void> {
  const { file, known, service, back } = params;
  const { workflowId } = file.deployment;
  const isWhole = (): boolean => seen.size >= leastShown(known.size, file.concurrency);
  const reach = new ListReach(file.service);
  for await (const page of listRuns({ ...params, workflowId, reach, isWhole }))
    for (const own of page.flatMap((run) => ownRun(file, run))) await note(own, own.run);
  const isFirstListed = known.firstEnded !== undefined && seen.has(known.firstEnded);
  const nowMs = service.nowMs() ?? Date.now();
  if (!showsEveryRun(reach, { ...params, isFirstListed, nowMs, back })) throw new Error(MAY_LACK);
}

type Shown = {
  readonly isAccounted: boolean;
  /** Whether the list shows the run of the batch that ended first. */
  readonly isFirstListed: boolean;
  readonly nowMs: number;
  readonly back: ReadBack;
};

/**
 * Whether the lists show every run of the batch. A list that still shows the first one to end has deleted none that ended later, and no
 * other one ended earlier if every attempt is accounted for.
 */
export const showsEveryRun = (
  reach: ListReach,
  { isAccounted, isFirstListed, nowMs, back }: Shown,
): boolean => (isAccounted && isFirstListed) || reach.covers(nowMs, back);

const MAY_LACK = 'the service may have deleted runs that ended early in the batch';

function openReport(params: ReadingParams, seen: KnownRuns) {
  const { file, known: knownRuns } = params;
  const first: DuplicateRun[] = [];
  let [runs, gpuSeconds, costUsd] = [0, 0, 0];
  const add = async (duplicate: DuplicateRun): Promise<void> => {
    runs += 1;
    gpuSeconds += duplicate.gpu_seconds;
    costUsd += duplicate.cost_usd ?? 0;
    if (first.length < MAX_FIRST) first.push(duplicate);
    await params.onDuplicate(duplicate);
  };
  /** Marks the run as counted; false if a row names it, or it was counted before. */
  const markNew = (runId: string): boolean => {
    const before = seen.size;
    seen.add(runId);
    return seen.size > before && !knownRuns.has(runId);
  };
  return {
    note: async (named: AttemptRun, listed: Run | undefined): Promise<void> => {
      if (!markNew(named.runId)) return;
      const name = { ...(await params.nameOf(named)), runId: named.runId };
      await add(duplicateOf(name, await endOf(params, named.runId, listed), file));
    },
    keep: async (duplicate: DuplicateRun): Promise<void> => {
      if (markNew(duplicate.run_id)) await add(duplicate);
    },
    report: (): LastReading['duplicates'] => ({
      runs,
      gpu_seconds: gpuSeconds,
      cost_usd: rounded(costUsd),
      first,
    }),
  };
}

/** The run, cancelled first if it was still running; undefined if it cannot be read. */
async function endOf({ service, beforeCancel }: ReadingParams, runId: string, listed: Run | undefined) {
  let run = listed;
  try {
    run ??= await service.getRun(runId);
    if (beforeCancel === undefined || run === undefined || isTerminal(run.status)) return run;
    await beforeCancel();
    await service.cancelRun(runId);
    return (await service.getRun(runId)) ?? run;
  } catch {
    // The run is reported as last read: an unreported duplicate is worse than one that is not cancelled.
    return run;
  }
}

function duplicateOf(
  { row, attempt, runId }: { readonly row: number; readonly attempt: number; readonly runId: string },
  run: Run | undefined,
  file: BatchFile,
): DuplicateRun {
  const { gpu, coldStartSeconds: coldStart = 0, runSeconds: ran = 0, lostSeconds: lost = 0 } = run ?? {};
  const cost =
    reportedCost(file, run ?? {}) ?? costOf(file.service.prices, gpu, { coldStart, run: ran, lost });
  return {
    row,
    attempt,
    run_id: runId,
    status: run?.status ?? 'unknown',
    ...(gpu === undefined ? {} : { gpu }),
    gpu_seconds: gpuSecondsOf({ cold_start_seconds: coldStart, run_seconds: ran, lost_seconds: lost }),
    ...(cost === undefined ? {} : { cost_usd: cost }),
  };
}
