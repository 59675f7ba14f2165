// Polls the service for runs, and signals runs that have ended or make no progress. Each activity attempt polls once and then
// fails, because Temporal's retries add no events to the history; heartbeat details carry the observations to the next attempt.
// The activity completes when few of its runs are left.

import { activityInfo, Context, heartbeat } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import pMap from 'p-map';
import type { AttemptRun } from '../src/batch/outcome.ts';
import type { BatchRef } from '../src/batch/workflow-ids.ts';
import { REASON_BYTES } from '../src/batch/bounds.ts';
import type { OverdueRun, RunCompletion } from '../src/batch/events.ts';
import type { PolledRun } from '../src/batch/commands.ts';
import { errorMessage, isRunsheetError } from '../src/errors/error.ts';
import { clipped } from '../src/options/text/clipped.ts';
import { isTerminal } from '../src/service-client/contract/statuses.ts';
import { NOT_OBSERVED, type Observation, observe, type Sight } from '../src/service-client/observation.ts';
import type { Deps, OpenBatch } from './deps.ts';
import { HEARTBEAT_MS } from './lease.ts';

type PollInput = BatchRef & {
  readonly runs: readonly PolledRun[];
  readonly intervalMs: number;
  /** The batch waits until the service can be read again. */
  readonly isUnreadable: boolean;
};

/** A poll with fewer runs left completes; they join the next poll. */
const LEFT_SHARE = 0.1;

/**
 * A poll ends after a time that grows with its remaining runs, so that a few long runs cannot delay the others. The remaining
 * runs join the next poll, which adds each of them to the history again.
 */
const LIFETIME_RUNS = 50;
const LIFETIME_MS = 180_000;
const lifetimeMs = (left: number): number => LIFETIME_MS * Math.max(1, left / LIFETIME_RUNS);

/** If the service cannot be read for this long, the batch pauses. */
const UNREADABLE_AFTER_MS = 60_000;
const SIGNAL_AGAIN_MS = 300_000;

export async function pollRuns(deps: Deps, input: PollInput): Promise<void> {
  const { heartbeatDetails, taskToken, currentAttemptScheduledTimestampMs: nowMs } = activityInfo();
  const before = readMemory(heartbeatDetails, input, nowMs);
  const timer = setInterval(() => heartbeat(storeMemory(before)), HEARTBEAT_MS);
  try {
    const after = await Promise.race([pollOnce(deps, input, before, nowMs), Context.current().cancelled]);
    if (after === undefined) return;
    clearInterval(timer);
    // Awaited, because the next attempt must know what this one has observed and signalled.
    await deps.completion.heartbeat(taskToken, storeMemory(after));
    const left = after.runs.filter(({ isReported }) => !isReported).length;
    if (left <= input.runs.length * LEFT_SHARE || after.agedMs >= lifetimeMs(left)) return;
    throw again(`${left} of ${input.runs.length} runs have not ended`, nextMs(input, after));
  } catch (error) {
    throw error instanceof ApplicationFailure ? error : again(errorMessage(error));
  } finally {
    clearInterval(timer);
  }
}

/** Every failure has the same type, because another type would lengthen the interval. */
const again = (message: string, nextRetryDelay?: number): ApplicationFailure =>
  ApplicationFailure.create({
    message,
    type: 'PollAgain',
    category: ApplicationFailureCategory.BENIGN,
    ...(nextRetryDelay === undefined ? {} : { nextRetryDelay }),
  });

/**
 * The interval as a share of a run's age: each poll is billed, and an end that is found late delays its slot by no
 * more than this share of the run time.
 */
const AGE_SHARE = 0.05;
/** A longer time between two polls proves nothing about a run. */
const MAX_INTERVAL_MS = 25_000;

/** The time until the next poll, by the age of the youngest run. */
function nextMs({ runs, intervalMs }: PollInput, { agedMs, runs: seen }: PollMemory): number {
  const ages = runs.filter((_, at) => seen[at]?.isReported !== true).map(({ ageMs }) => ageMs + agedMs);
  return Math.max(intervalMs, Math.min(MAX_INTERVAL_MS, Math.round(Math.min(...ages) * AGE_SHARE)));
}

/** undefined once the batch has ended. */
async function pollOnce(
  deps: Deps,
  input: PollInput,
  before: PollMemory,
  nowMs: number,
): Promise<PollMemory | undefined> {
  const times = { lookedAtMs: nowMs, agedMs: before.agedMs + before.sinceLastMs };
  let open: OpenBatch;
  try {
    open = await deps.open(input);
  } catch (failure) {
    // Without its folder, or a key for its service, no run of the batch can be read.
    const unread = await signalReadable(deps, input, before, { isRead: false, failure });
    return { ...before, ...unread, ...times };
  }
  deps.log.debug({ batch: input.batch, runs: input.runs.length }, 'polls runs');
  // Ends that are about to be signalled are left to the receiver.
  const waiting = input.runs.filter(
    ({ runId }, at) => before.runs[at]?.isReported !== true && !deps.reported.held.has(runId),
  );
  const { sights, failure } = await readRuns(deps, open, waiting, {
    cancelled: Context.current().cancellationSignal,
    turn: activityInfo().attempt - 1,
  });
  const seen = observeAll(open, input, before, sights);
  const isTaken = await signalRuns(deps, input, seen);
  if (!isTaken) return undefined;
  const reading = await signalReadable(deps, input, before, { isRead: isAnyRead(sights), failure });
  return {
    ...before,
    ...reading,
    ...times,
    runs: seen.runs,
  };
}

type RunSights = {
  readonly runs: readonly Observation[];
  readonly completions: readonly RunCompletion[];
  readonly overdue: readonly OverdueRun[];
};

function observeAll(
  { file }: OpenBatch,
  { runs }: PollInput,
  before: PollMemory,
  sights: ReadonlyMap<string, Sight>,
): RunSights {
  const completions: RunCompletion[] = [];
  const overdue: OverdueRun[] = [];
  const after = runs.map(({ place, attempt, runId, ageMs, isOverdue }, at) => {
    const observation = before.runs[at] as Observation;
    const sight = sights.get(runId) ?? { kind: 'unread' };
    const { after: next, report } = observe(observation, sight, {
      sinceLastMs: before.sinceLastMs,
      ageMs: ageMs + before.agedMs + before.sinceLastMs,
      deadlines: file.deadlines,
    });
    const name = { place, attempt, runId };
    if (report?.kind === 'completed') {
      const { kind: _, ...end } = report;
      completions.push({ ...name, ...end });
    } else if (report?.kind === 'overdue' && !isOverdue) overdue.push({ ...name, reason: report.reason });
    return next;
  });
  return { runs: after, completions, overdue };
}

/**
 * Signals ended and overdue runs; false if the batch accepts no more signals. Skips runs that this worker has already
 * signalled after a webhook.
 */
async function signalRuns(
  { signals, reported, ownRuns }: Deps,
  ref: BatchRef,
  { completions, overdue }: RunSights,
): Promise<boolean> {
  for (const { runId } of completions) ownRuns.ended(ref, runId);
  const unreported = completions.filter(({ runId }) => !reported.has(runId));
  if (unreported.length > 0 && (await signals.runsCompleted(ref, 'poll', unreported)) === 'gone')
    return false;
  return overdue.length === 0 || (await signals.runsOverdue(ref, overdue)) !== 'gone';
}

const isAnyRead = (sights: ReadonlyMap<string, Sight>): boolean =>
  sights.size === 0 || [...sights.values()].some(({ kind }) => kind !== 'unread');

type ServiceReading = { readonly isRead: boolean; readonly failure: unknown };

/** Signals that runs cannot be read: immediately if the service refuses our key, after a minute if it is unreachable. */
async function signalReadable(
  { signals }: Deps,
  ref: BatchRef,
  { unreadMs, sinceLastMs, isOutageReported }: PollMemory,
  { isRead, failure }: ServiceReading,
): Promise<Pick<PollMemory, 'unreadMs' | 'isOutageReported'>> {
  if (isRead) {
    if (isOutageReported) await signals.serviceRead(ref, {});
    return { unreadMs: 0, isOutageReported: false };
  }
  const forMs = unreadMs + Math.max(1, sinceLastMs);
  const isOutage = forMs >= UNREADABLE_AFTER_MS || isRunsheetError(failure, 'E301');
  // Repeated from time to time, because the user may have resumed the batch meanwhile.
  const isDue =
    !isOutageReported || Math.floor(forMs / SIGNAL_AGAIN_MS) > Math.floor(unreadMs / SIGNAL_AGAIN_MS);
  if (isOutage && isDue)
    await signals.serviceRead(ref, { reason: clipped(errorMessage(failure), REASON_BYTES) });
  return { unreadMs: forMs, isOutageReported: isOutageReported || isOutage };
}

/**
 * The memory of a poll between its attempts, in heartbeat details: short lists, because Temporal stores them at every
 * poll. The time between two polls comes from Temporal's clock and is capped.
 */
type PollMemory = {
  readonly lookedAtMs: number;
  /** Time since the last poll, capped. */
  readonly sinceLastMs: number;
  /** Time since the poll activity started. */
  readonly agedMs: number;
  /** For how long no run could be read, and whether that was signalled to the batch. */
  readonly unreadMs: number;
  readonly isOutageReported: boolean;
  readonly runs: readonly Observation[];
};

type RunTuple = readonly [shown: number, quietMs: number, missingMs: number, isReported: 0 | 1];
export type StoredMemory = Omit<PollMemory, 'runs' | 'sinceLastMs'> & { readonly runs: readonly RunTuple[] };

/** A longer outage of the service or of Temporal proves nothing about a run. */
const MAX_COUNTED_MS = 30_000;

/** The memory of the previous attempt; the initial one if there is none. */
function readMemory(
  details: unknown,
  { runs, isUnreadable }: { readonly runs: readonly unknown[]; readonly isUnreadable: boolean },
  nowMs: number,
): PollMemory {
  const stored = details as StoredMemory | undefined;
  if (stored?.runs.length !== runs.length)
    return {
      lookedAtMs: nowMs,
      sinceLastMs: 0,
      agedMs: 0,
      unreadMs: 0,
      isOutageReported: isUnreadable,
      runs: runs.map(() => NOT_OBSERVED),
    };
  const sinceLastMs = Math.min(MAX_COUNTED_MS, Math.max(0, nowMs - stored.lookedAtMs));
  return { ...stored, sinceLastMs, runs: stored.runs.map(readRun) };
}

function storeMemory(stored: PollMemory): StoredMemory {
  const { sinceLastMs: _, runs, ...memory } = stored;
  return { ...memory, runs: runs.map(storeRun) };
}

const readRun = ([shown, quietMs, missingMs, isReported]: RunTuple): Observation => ({
  shown,
  quietMs,
  missingMs,
  isReported: isReported === 1,
});

const storeRun = ({ shown, quietMs, missingMs, isReported }: Observation): RunTuple => [
  shown,
  quietMs,
  missingMs,
  isReported ? 1 : 0,
];

const CONCURRENCY = 16;
const LIST_PAGE = 200;

/** How many runs further the next poll starts. */
const TURN_RUNS = 37;

/** A poll ends after this time, however slowly the service answers; the next poll reads the remaining runs. */
const POLL_MS = 60_000;

/** After this many consecutive failures the service counts as unreachable, and the remaining runs are skipped. */
const MAX_FAILURES = 2 * CONCURRENCY;

type RunReadings = {
  readonly sights: ReadonlyMap<string, Sight>;
  readonly failure: unknown;
};

/**
 * Reads the current state of runs: one list call for many of them, and a Get Run for each run that the list does not show as
 * open. A run that cannot be read does not affect the others.
 */
async function readRuns(
  { log }: Pick<Deps, 'log'>,
  open: OpenBatch,
  runs: readonly AttemptRun[],
  { cancelled, turn }: { readonly cancelled: AbortSignal; readonly turn: number },
): Promise<RunReadings> {
  const sights = new Map<string, Sight>();
  let failure: unknown;
  let failures = 0;
  const until = AbortSignal.timeout(POLL_MS);
  await listOpen(open, runs, sights).catch((error: unknown) => {
    failure = error;
    log.warn(
      { batch: open.file.batch, reason: errorMessage(error) },
      'the run list failed; each run is read instead',
    );
  });
  const waiting = runs.filter(({ runId }) => !sights.has(runId));
  // Each poll starts at another run, so that slow or unreadable runs cannot block the others for ever.
  const from = waiting.length === 0 ? 0 : (turn * TURN_RUNS) % waiting.length;
  const suspects = [...waiting.slice(from), ...waiting.slice(0, from)];
  const read = async ({ runId }: AttemptRun): Promise<void> => {
    if (until.aborted || cancelled.aborted || failures >= MAX_FAILURES) return;
    try {
      const sight = await sightOf(open, runId);
      failures = 0;
      if (sight !== undefined) sights.set(runId, sight);
    } catch (error) {
      failure = error;
      failures += 1;
      sights.set(runId, { kind: 'unread' });
      log.warn({ runId, reason: errorMessage(error) }, 'a run could not be read');
    }
  };
  await pMap(suspects, read, { concurrency: CONCURRENCY });
  return { sights, failure };
}

/** undefined if the service answers with another run. */
async function sightOf({ service }: OpenBatch, runId: string): Promise<Sight | undefined> {
  const run = await service.getRun(runId);
  if (run === undefined) return { kind: 'missing' };
  return run.id === runId ? { kind: 'run', run, serviceNowMs: service.nowMs() } : undefined;
}

/** Runs that the list shows as open need no Get Run; a listed end must be confirmed by one. */
async function listOpen(
  { file, service }: OpenBatch,
  runs: readonly AttemptRun[],
  sights: Map<string, Sight>,
): Promise<void> {
  const { workflowId } = file.deployment;
  if (workflowId === undefined) return;
  const wanted = new Set(runs.map(({ runId }) => runId));
  const pagesMost = 2 + Math.ceil((4 * runs.length) / LIST_PAGE);
  for (let page = 0, offset = 0; wanted.size > 0 && page < pagesMost; page += 1) {
    const listed = await service.listRuns(workflowId, { limit: LIST_PAGE, offset });
    if (listed === undefined || listed.length === 0) return;
    offset += listed.length;
    for (const run of listed)
      if (wanted.delete(run.id) && !isTerminal(run.status))
        sights.set(run.id, { kind: 'run', run, serviceNowMs: service.nowMs() });
  }
}
