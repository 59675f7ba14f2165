// One look of the durable poll: asks the service about its runs, and signals what has ended or makes no progress. A poll looks
// again and again by failing in a way that Temporal retries without a line of history; what it has observed travels from try
// to try in its heartbeat. It is done when few of its runs are left.

import { Context, activityInfo, heartbeat } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { REASON_BYTES } from '../src/batch/bounds.ts';
import { clipped } from '../src/batch/clipped.ts';
import type { PolledRun } from '../src/batch/commands.ts';
import type { OverdueRun, RunCompletion } from '../src/batch/events.ts';
import { errorMessage, isRunsheetError } from '../src/errors/error.ts';
import { observe, type Observation, type Sight } from '../src/run-service/observation.ts';
import type { Deps, OpenBatch } from './deps.ts';
import type { BatchRef } from '../src/batch/batch-ref.ts';
import { readMemory, storeMemory, type PollMemory } from './poll-memory.ts';
import { readRuns } from './read-runs.ts';

export type PollInput = BatchRef & {
  readonly runs: readonly PolledRun[];
  readonly intervalMs: number;
  /** The batch waits for the service to be readable again. */
  readonly isUnreadable: boolean;
};

const HEARTBEAT_MS = 1_000;

/** A poll with so few runs left is done; they are for the next one. */
const LEFT_SHARE = 0.1;

/**
 * A poll ends after a time that grows with the runs it still has, so that few long runs cannot keep the others from being
 * polled: what is left joins the next poll, which costs history by the run.
 */
const LIFETIME_RUNS = 50;
const LIFETIME_MS = 180_000;
const lifetimeMs = (left: number): number => LIFETIME_MS * Math.max(1, left / LIFETIME_RUNS);

/** A service that cannot be read for so long is worth a pause. */
const UNREADABLE_AFTER_MS = 60_000;
const TOLD_AGAIN_MS = 300_000;

export async function pollRuns(deps: Deps, input: PollInput): Promise<void> {
  const { heartbeatDetails, taskToken, currentAttemptScheduledTimestampMs: nowMs } = activityInfo();
  const before = readMemory(heartbeatDetails, input, nowMs);
  const timer = setInterval(() => heartbeat(storeMemory(before)), HEARTBEAT_MS);
  try {
    const after = await Promise.race([look(deps, input, before, nowMs), Context.current().cancelled]);
    if (after === undefined) return;
    clearInterval(timer);
    // Awaited: the next try must know what this one has seen and told.
    await deps.completion.heartbeat(taskToken, storeMemory(after));
    const left = after.runs.filter(({ isReported }) => !isReported).length;
    if (left <= input.runs.length * LEFT_SHARE || after.agedMs >= lifetimeMs(left)) return;
    throw again(`${left} of ${input.runs.length} runs go on`);
  } catch (error) {
    throw error instanceof ApplicationFailure ? error : again(errorMessage(error));
  } finally {
    clearInterval(timer);
  }
}

/** Every failure is the same one: another kind would lengthen the intervals. */
const again = (message: string): ApplicationFailure =>
  ApplicationFailure.create({ message, type: 'PollAgain', category: ApplicationFailureCategory.BENIGN });

/** undefined once the batch is over. */
async function look(
  deps: Deps,
  input: PollInput,
  before: PollMemory,
  nowMs: number,
): Promise<PollMemory | undefined> {
  const open = await deps.open(input);
  deps.log.debug({ batch: input.batch, runs: input.runs.length }, 'polls runs');
  const waiting = input.runs.filter((_, at) => before.runs[at]?.isReported !== true);
  const { sights, failure } = await readRuns(deps, open, waiting, {
    cancelled: Context.current().cancellationSignal,
    turn: activityInfo().attempt - 1,
  });
  const seen = observeAll(open, input, before, sights);
  const isTold = await tell(deps, input, seen);
  if (!isTold) return undefined;
  const reading = await tellReadable(deps, input, before, { isRead: isAnyRead(sights), failure });
  return {
    ...before,
    ...reading,
    lookedAtMs: nowMs,
    agedMs: before.agedMs + before.sinceLastMs,
    runs: seen.runs,
  };
}

type Seen = {
  readonly runs: readonly Observation[];
  readonly completions: readonly RunCompletion[];
  readonly overdue: readonly OverdueRun[];
};

function observeAll(
  { file }: OpenBatch,
  { runs }: PollInput,
  before: PollMemory,
  sights: ReadonlyMap<string, Sight>,
): Seen {
  const completions: RunCompletion[] = [];
  const overdue: OverdueRun[] = [];
  const after = runs.map(({ row, attempt, runId, ageMs, isOverdue }, at) => {
    const known = before.runs[at] as Observation;
    const sight = sights.get(runId) ?? { kind: 'unread' };
    const { after: next, report } = observe(known, sight, {
      sinceLastMs: before.sinceLastMs,
      ageMs: ageMs + before.agedMs + before.sinceLastMs,
      deadlines: file.deadlines,
    });
    const name = { row, attempt, runId };
    if (report?.kind === 'completed') {
      const { kind: _, ...end } = report;
      completions.push({ ...name, ...end });
    } else if (report?.kind === 'overdue' && !isOverdue) overdue.push({ ...name, reason: report.reason });
    return next;
  });
  return { runs: after, completions, overdue };
}

/** False where the batch takes no news any more. What a webhook told through this worker is no news. */
async function tell(
  { signals, reported }: Deps,
  ref: BatchRef,
  { completions, overdue }: Seen,
): Promise<boolean> {
  const news = completions.filter(({ runId }) => !reported.has(runId));
  if (news.length > 0 && (await signals.runsCompleted(ref, 'poll', news)) === 'gone') return false;
  return overdue.length === 0 || (await signals.runsOverdue(ref, overdue)) !== 'gone';
}

const isAnyRead = (sights: ReadonlyMap<string, Sight>): boolean =>
  sights.size === 0 || [...sights.values()].some(({ kind }) => kind !== 'unread');

type Reading = { readonly isRead: boolean; readonly failure: unknown };

/** A batch whose runs cannot be read is told so: immediately where we are refused, after a while where the service is away. */
async function tellReadable(
  { signals }: Deps,
  ref: BatchRef,
  { unreadMs, sinceLastMs, isToldUnreadable }: PollMemory,
  { isRead, failure }: Reading,
): Promise<Pick<PollMemory, 'unreadMs' | 'isToldUnreadable'>> {
  if (isRead) {
    if (isToldUnreadable) await signals.serviceRead(ref, {});
    return { unreadMs: 0, isToldUnreadable: false };
  }
  const forMs = unreadMs + Math.max(1, sinceLastMs);
  const isWorthIt = forMs >= UNREADABLE_AFTER_MS || isRunsheetError(failure, 'E301');
  // Told again now and then: somebody may have resumed the batch meanwhile.
  const isNews =
    !isToldUnreadable || Math.floor(forMs / TOLD_AGAIN_MS) > Math.floor(unreadMs / TOLD_AGAIN_MS);
  if (isWorthIt && isNews)
    await signals.serviceRead(ref, { reason: clipped(errorMessage(failure), REASON_BYTES) });
  return { unreadMs: forMs, isToldUnreadable: isToldUnreadable || isWorthIt };
}
