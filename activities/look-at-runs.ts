// One look of the durable poll (R18): asks the service about the runs that are outstanding, and signals what has ended. A
// look that fails is tried again by Temporal; a run that cannot be read is left to the next look.

import { REASON_CHARS } from '../src/batch/limits.ts';
import type { End, Overdue, Watched } from '../src/batch/messages.ts';
import { reasonOf, RunsheetError } from '../src/errors.ts';
import { isTerminal } from '../src/run-service/contract/run.ts';
import { overdueBy, standingOf } from '../src/run-service/ending.ts';
import { atOnce } from './at-once.ts';
import type { BatchPlace, Hands, OpenBatch } from './hands.ts';

export type LookOrder = BatchPlace & {
  readonly runs: readonly Watched[];
  /** The batch waits for the service to be readable again. */
  readonly isUnread: boolean;
};

const GETS_AT_ONCE = 16;
const ENDS_PER_SIGNAL = 500;
const LIST_PAGE = 200;

/** So long is a service given to cancel a run that takes too long. */
const CANCEL_PATIENCE_MS = 60_000;

/** A service that is away for so long is worth a pause. */
const UNREAD_AFTER_MS = 60_000;

/** A run that the service has said for this long that it does not know has vanished. */
const VANISHED_AFTER_MS = 60_000;

export async function lookAtRuns(hands: Hands, order: LookOrder): Promise<void> {
  const open = await hands.open(order);
  hands.log.debug({ batch: order.batch, runs: order.runs.length }, 'looks at the outstanding runs');
  await tellReading(hands, order.batch, order.isUnread, await readRuns(hands, open, order.runs));
}

/** What reading has met: nothing read at all, and why; or something. */
type Met = { readonly read: number; readonly failure: unknown };

/** Tells the ends and the runs that take too long, at most a signal's worth at a time. */
async function readRuns(hands: Hands, open: OpenBatch, runs: readonly Watched[]): Promise<Met> {
  const { batch } = open.file;
  const openIds = await stillOpen(open, runs).catch((error: unknown) => {
    hands.log.warn({ batch, reason: reasonOf(error) }, 'the run list failed; each run is read instead');
    return new Set<string>();
  });
  const suspects = runs.filter(({ runId }) => !openIds.has(runId));
  let failure: unknown;
  let read = openIds.size;
  for (let from = 0; from < suspects.length; from += ENDS_PER_SIGNAL) {
    const found = await atOnce(suspects.slice(from, from + ENDS_PER_SIGNAL), GETS_AT_ONCE, (watched) =>
      newsOf(open, watched).catch((error: unknown) => {
        // One run that cannot be read must not hide the ends of the others.
        hands.log.warn({ runId: watched.runId, reason: reasonOf(error) }, 'a run could not be read');
        failure = error;
        return UNREAD;
      }),
    );
    read += found.filter((news) => news !== UNREAD).length;
    const ends = found.flatMap(({ end }) => end ?? []);
    const overdue = found.flatMap((news) => news.overdue ?? []);
    if (ends.length > 0) await hands.batches.tellEnds(batch, 'look', ends);
    if (overdue.length > 0) await hands.batches.tellOverdue(batch, overdue);
  }
  return { read, failure };
}

/** A batch whose service cannot be read at all is told so: at once where it refuses us, after a while where it is away. */
async function tellReading(hands: Hands, batch: string, isUnread: boolean, met: Met): Promise<void> {
  if (met.failure === undefined || met.read > 0) {
    unreadSince.delete(batch);
    if (isUnread) await hands.batches.tellRead(batch, {});
    return;
  }
  const since = unreadSince.get(batch) ?? Date.now();
  unreadSince.set(batch, since);
  const isRefused = met.failure instanceof RunsheetError && met.failure.code === 'E301';
  if (isRefused || Date.now() - since > UNREAD_AFTER_MS)
    await hands.batches.tellRead(batch, { reason: reasonOf(met.failure).slice(0, REASON_CHARS) });
}

/** Since when this worker's looks could read nothing, by batch. */
const unreadSince = new Map<string, number>();

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

type News = { readonly end?: End; readonly overdue?: Overdue };
const UNREAD: News = {};

/** The confirmed end of a run, or that it takes too long. */
async function newsOf({ file, service }: OpenBatch, watched: Watched): Promise<News> {
  const { row, attempt, runId, overdueAt } = watched;
  const name = { row, attempt, runId };
  const run = await service.getRun(runId);
  if (run === undefined) return hasVanished(runId) ? { end: toEnd(name, VANISHED) } : {};
  missedSince.delete(runId);
  // An answer about another run says nothing about this one.
  if (run.id !== runId) return {};
  const standing = standingOf(run);
  if (standing.kind === 'ended') return { end: toEnd(name, standing) };
  if (overdueAt !== undefined)
    return Date.now() - overdueAt > CANCEL_PATIENCE_MS ? { end: toEnd(name, STUBBORN) } : {};
  const late =
    standing.kind === 'stale' ? 'nothing touched it for a day' : overdueBy(run, file.deadlines, Date.now());
  return late === undefined ? {} : { overdue: { ...name, reason: late } };
}

const STUBBORN = {
  outcome: 'unknown',
  reason: 'it took too long and would not be cancelled: it may still run',
} as const;
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

const toEnd = (
  name: Pick<End, 'row' | 'attempt' | 'runId'>,
  { outcome, reason }: { readonly outcome: End['outcome']; readonly reason?: string },
): End => ({ ...name, outcome, ...(reason === undefined ? {} : { reason }) });
