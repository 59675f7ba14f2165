// One look of the durable poll (R18): asks the workflow what is outstanding, asks the service, signals what has ended,
// and fails on purpose with the time of the next look. Whatever goes wrong here only makes the next look the next try.

import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { SAFETY_LOOK_MS } from '../src/batch/limits.ts';
import type { End } from '../src/batch/messages.ts';
import type { Watch } from '../src/batch/watching.ts';
import { reasonOf } from '../src/errors.ts';
import { isTerminal } from '../src/run-service/contract/run.ts';
import { overdueBy, standingOf } from '../src/run-service/ending.ts';
import { atOnce } from './at-once.ts';
import type { BatchPlace, Hands, OpenBatch } from './hands.ts';

export type WatchOrder = BatchPlace & { readonly firstLookMs: number };
type Watched = Watch['runs'][number];

const GETS_AT_ONCE = 16;
const ENDS_PER_SIGNAL = 500;
const LIST_PAGE = 200;

/** Only Temporal fails a whole look; a batch whose worker died is asked again soon, for its runs end unseen. */
const AFTER_FAILURE_MS = 500;

/** A run that the service has said for this long that it does not know has vanished. */
const VANISHED_AFTER_MS = 60_000;

export async function watchRuns(hands: Hands, order: WatchOrder): Promise<never> {
  if (activityInfo().attempt === 1) throw lookAgain(order.firstLookMs);
  throw lookAgain(await look(hands, order));
}

const lookAgain = (ms: number): ApplicationFailure =>
  ApplicationFailure.create({
    message: 'looks again later',
    type: 'LookAgain',
    nextRetryDelay: Math.max(1, ms),
    category: ApplicationFailureCategory.BENIGN,
  });

async function look(hands: Hands, order: WatchOrder): Promise<number> {
  try {
    const watch = await hands.batches.watch(order.batch);
    if (watch === undefined) return SAFETY_LOOK_MS;
    const open = await hands.open(order);
    hands.log.debug(
      { batch: order.batch, runs: watch.runs.length, lookAgainMs: watch.lookAgainMs },
      'looks at the outstanding runs',
    );
    for await (const ends of endsAmong(hands, open, watch.runs)) {
      if (ends.length > 0) await hands.batches.tellEnds(order.batch, 'look', ends);
    }
    return watch.lookAgainMs;
  } catch (error) {
    hands.log.warn({ batch: order.batch, reason: reasonOf(error) }, 'a look at the outstanding runs failed');
    return AFTER_FAILURE_MS;
  }
}

/** Ends found, at most a signal's worth at a time: those that a list shows as ended, or all where there is no list. */
async function* endsAmong(
  hands: Hands,
  open: OpenBatch,
  runs: readonly Watched[],
): AsyncGenerator<readonly End[]> {
  const openIds = await stillOpen(open, runs).catch((error: unknown) => {
    hands.log.warn(
      { batch: open.file.batch, reason: reasonOf(error) },
      'the run list failed; each run is read instead',
    );
    return new Set<string>();
  });
  const suspects = runs.filter(({ runId }) => !openIds.has(runId));
  for (let from = 0; from < suspects.length; from += ENDS_PER_SIGNAL) {
    const ends = await atOnce(suspects.slice(from, from + ENDS_PER_SIGNAL), GETS_AT_ONCE, (watched) =>
      endOf(open, watched).catch((error: unknown) => {
        // One run that cannot be read must not hide the ends of the others.
        hands.log.warn({ runId: watched.runId, reason: reasonOf(error) }, 'a run could not be read');
        return undefined;
      }),
    );
    yield ends.filter((end) => end !== undefined);
  }
}

/** Runs that a list shows as not ended: one call instead of a Get Run each. Empty where the service has no list. */
async function stillOpen(
  { file, service }: OpenBatch,
  runs: readonly Watched[],
): Promise<ReadonlySet<string>> {
  const { workflowId } = file.deployment;
  const wanted = new Set(runs.map(({ runId }) => runId));
  const open = new Set<string>();
  if (workflowId === undefined) return open;
  const pagesMost = 2 + Math.ceil((4 * runs.length) / LIST_PAGE);
  for (let page = 0; wanted.size > 0 && page < pagesMost; page += 1) {
    const listed = await service.listRuns(workflowId, { limit: LIST_PAGE, offset: page * LIST_PAGE });
    for (const run of listed ?? []) {
      const isOpen = !isTerminal(run.status) && overdueBy(run, file.deadlines, Date.now()) === undefined;
      if (wanted.delete(run.id) && isOpen) open.add(run.id);
    }
    if (listed === undefined || listed.length < LIST_PAGE) break;
  }
  return open;
}

/** The confirmed end of a run; undefined while it has none. */
async function endOf(
  { file, service }: OpenBatch,
  { row, attempt, runId }: Watched,
): Promise<End | undefined> {
  const run = await service.getRun(runId);
  if (run === undefined) return hasVanished(runId) ? toEnd({ row, attempt, runId }, VANISHED) : undefined;
  missedSince.delete(runId);
  // An answer about another run says nothing about this one.
  if (run.id !== runId) return undefined;
  const standing = standingOf(run);
  if (standing.kind === 'ended') return toEnd({ row, attempt, runId }, standing);
  const why =
    standing.kind === 'stale' ? 'nothing touched it for a day' : overdueBy(run, file.deadlines, Date.now());
  return why === undefined ? undefined : endOfOverdue(service, { row, attempt, runId }, why);
}

const VANISHED = { outcome: 'unknown', reason: 'the service does not know the run any more' } as const;

/** Since when this worker's looks have not found a run, by run id. */
const missedSince = new Map<string, number>();

function hasVanished(runId: string): boolean {
  const since = missedSince.get(runId) ?? Date.now();
  missedSince.set(runId, since);
  const isSo = Date.now() - since >= VANISHED_AFTER_MS;
  if (isSo) missedSince.delete(runId);
  return isSo;
}

/** It may still start, or go on: cancelled first, and only then its row may be tried again; else possible spend. */
async function endOfOverdue(
  service: OpenBatch['service'],
  name: Pick<End, 'row' | 'attempt' | 'runId'>,
  why: string,
): Promise<End> {
  await service.cancelRun(name.runId);
  service.forget(name.runId);
  const after = await service.getRun(name.runId);
  const standing = after && standingOf(after);
  if (standing?.kind !== 'ended')
    return { ...name, outcome: 'unknown', reason: `${why}, and it would not be cancelled: it may still run` };
  return standing.outcome === 'cancelled'
    ? { ...name, outcome: 'timed-out', reason: `${why}, and it was cancelled` }
    : toEnd(name, standing);
}

const toEnd = (
  name: Pick<End, 'row' | 'attempt' | 'runId'>,
  { outcome, reason }: { readonly outcome: End['outcome']; readonly reason?: string },
): End => ({ ...name, outcome, ...(reason === undefined ? {} : { reason }) });
