// Executes the commands of a batch: activities, timers and signals. The result of each is an event again.

import { ActivityFailure, ApplicationFailure, CancelledFailure, TimeoutFailure } from '@temporalio/common';
import { type Event, EVIDENCE, type GroupResult, LOG, PASS, RESULTS } from '../src/batch/events.ts';
import type { Command, CommandOf } from '../src/batch/commands.ts';
import type { Notice } from '../src/batch/notices/notice.ts';
import { progress } from '../src/batch/shown/progress.ts';
import { activitySummary } from '../src/batch/shown/shown-batch.ts';
import { closedSnapshot } from '../src/batch/state/snapshot.ts';
import type { State } from '../src/batch/state/state.ts';
import type { BatchRuntime, Scope, Wake } from './batch-runtime.ts';
import { isLong } from './continue-batch.ts';

export type CommandContext = {
  readonly runtime: BatchRuntime;
  readonly state: State;
  readonly wake: Wake;
  readonly groups: GroupScopes;
  readonly reports: Reports;
};

export async function execute(
  { runtime, state, wake, groups, reports }: CommandContext,
  command: Command,
): Promise<Event | undefined> {
  const { activities } = runtime;
  const summary = activitySummary(state, command);
  switch (command.type) {
    case 'send':
      return sendGroup(runtime, groups, command, summary);
    case 'stopGroups':
      for (const group of command.groups) groups.get(group)?.cancel();
      return undefined;
    case 'reconcile':
      return { type: 'listRead', reading: await activities.reconcileRuns(inputOf(command), summary) };
    case 'poll':
      await activities.pollRuns(inputOf(command), summary);
      return { type: 'pollEnded', poll: command.poll };
    case 'collect':
      return stored(command.part, async () => ({
        type: 'partCollected',
        part: command.part,
        result: await activities.collectRows({ ...inputOf(command), pass: state.params.pass }, summary),
      }));
    case 'cancelRuns':
      return cancelled(activities, command, summary);
    case 'keepEvidence':
      return stored(EVIDENCE, async () => {
        await activities.keepEvidence(inputOf(command));
        return { type: 'evidenceKept', count: command.runs.length };
      });
    case 'keepLog':
      return stored(LOG, async () => {
        await activities.keepLog(inputOf(command));
        return { type: 'logKept', count: command.entries.length };
      });
    case 'notify':
      return notified(command.notice, async (notice) =>
        activities.notify({ notice, progress: progress(state) }, summary),
      );
    case 'loadPass':
      // The microtasks of `stored` would change the order in which earlier versions act.
      if (state.version >= 4) return passLoaded(activities, command, summary);
      return { ...command, type: 'passLoaded', ...(await activities.loadPass(inputOf(command), summary)) };
    case 'close':
      return stored(RESULTS, async () => {
        await activities.finalizeBatch(
          {
            ...inputOf(command),
            progress: progress(state),
            startedAt: state.startedWallAt,
            endedAt: runtime.now(),
            isEvidenceLost: state.isEvidenceLost,
            closed: closedSnapshot(state),
          },
          summary,
        );
        return { type: 'closed' };
      });
    case 'reportUsage':
      return report(runtime, reports, command);
    case 'publish':
      runtime.publish(state);
      return undefined;
    case 'wake':
      return wake(command.afterMs);
  }
}

/** A command without its type: the input of its activity. */
function inputOf<C extends Command>(command: C): Omit<C, 'type'> {
  const { type: _, ...input } = command;
  return input;
}

const passLoaded = (
  activities: BatchRuntime['activities'],
  { pass }: CommandOf<'loadPass'>,
  summary: string | undefined,
): Promise<Event> =>
  stored(PASS, async () => ({
    type: 'passLoaded',
    pass,
    ...(await activities.loadPass({ pass, mayPause: true }, summary)),
  }));

/** A run that the service refuses to cancel continues, and ends like any other. */
async function cancelled(
  activities: BatchRuntime['activities'],
  { id, runs }: CommandOf<'cancelRuns'>,
  summary: string | undefined,
): Promise<Event> {
  try {
    await activities.cancelRuns({ runs }, summary);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
  }
  return { type: 'runsCancelled', id };
}

/** A store that cannot be written does not fail the batch, which waits. Rethrows every other error. */
async function stored(item: number, work: () => Promise<Event>): Promise<Event> {
  try {
    return await work();
  } catch (error) {
    const cause = error instanceof ActivityFailure ? error.cause : undefined;
    if (cause instanceof ApplicationFailure && cause.type === 'StoreFailed')
      return { type: 'storeFailed', item, reason: cause.message, ...heldElsewhere(cause) };
    throw error;
  }
}

/** The groups in flight; cancelling a scope asks the group's worker to start no further POST. */
export type GroupScopes = Map<number, Scope>;

async function sendGroup(
  runtime: BatchRuntime,
  groups: GroupScopes,
  { group, attempts, mayWait }: Extract<Command, { type: 'send' }>,
  summary: string | undefined,
): Promise<Event> {
  const scope = runtime.openScope();
  groups.set(group, scope);
  try {
    // A workflow run with a long history needs a moment without a group (R17).
    const waits = mayWait && !isLong(runtime) ? { mayWait } : {};
    const result = await scope.run(async () => runtime.activities.queueRuns({ attempts, ...waits }, summary));
    return { type: 'groupEnded', group, ...result, rest: 'unconfirmed' };
  } catch (error) {
    if (isSuperseded(error)) throw error;
    return { type: 'groupEnded', group, ...resultOfFailed(error) };
  } finally {
    groups.delete(group);
  }
}

/**
 * Whether another execution owns the batch for good (R36): then this one ends, as after any other activity that says
 * so.
 */
const isSuperseded = (error: unknown): boolean =>
  error instanceof ActivityFailure &&
  error.cause instanceof ApplicationFailure &&
  error.cause.type === SUPERSEDED &&
  error.cause.nonRetryable === true;

const SUPERSEDED = 'E515';

/** Whether an activity refused because another command rebuilds the batch. */
const heldElsewhere = ({ details, message }: ApplicationFailure): { readonly heldElsewhere?: string } =>
  (details?.[0] as { readonly isHeldElsewhere?: true } | undefined)?.isHeldElsewhere === true
    ? { heldElsewhere: message }
    : {};

/** The result of a group whose activity failed (R2). */
function resultOfFailed(
  error: unknown,
): GroupResult & Pick<Extract<Event, { type: 'groupEnded' }>, 'rest' | 'reason' | 'heldElsewhere'> {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  const reason = cause?.message ?? String(error);
  // The server cancels only a group that no worker has taken.
  if (cause instanceof CancelledFailure) return { results: [], rest: 'not-sent', reason };
  if (cause instanceof ApplicationFailure && cause.type === 'NothingSent')
    return { results: [], rest: 'not-sent', reason, ...heldElsewhere(cause) };
  if (!(cause instanceof TimeoutFailure)) return { results: [], rest: 'unconfirmed', reason };
  const confirmed = cause.lastHeartbeatDetails as GroupResult | undefined;
  // The worker sends no POST before the server confirms the first heartbeat.
  return confirmed
    ? { ...confirmed, rest: 'unconfirmed', reason: 'the worker that sent it was lost' }
    : { results: [], rest: 'not-sent', reason };
}

/** Sends a notification. A failure never fails the batch: it becomes an entry of the log. */
async function notified(notice: Notice, send: (notice: Notice) => Promise<void>): Promise<Event> {
  const { number } = notice;
  try {
    await send(notice);
    return { type: 'notified', number };
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return { type: 'notified', number, reason: reasonOf(error) };
  }
}

/** A timeout names the failure of the last try as its cause. */
function reasonOf(error: Error): string {
  if (error instanceof ApplicationFailure || !(error.cause instanceof Error)) return error.message;
  return reasonOf(error.cause);
}

/**
 * Reports to the pool in flight. Both are workflows of one namespace, so reports are signals without a worker between
 * them. The batch ends when its last report has arrived, or cannot arrive.
 */
export type Reports = { last: Promise<unknown>; inFlight: number };

async function report(
  runtime: BatchRuntime,
  reports: Reports,
  { pool, usage }: Extract<Command, { type: 'reportUsage' }>,
): Promise<Event | undefined> {
  const sending = runtime
    .nonCancellable(async () => runtime.signalPool(pool, usage))
    .then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
  reports.last = Promise.all([reports.last, sending]);
  reports.inFlight += 1;
  const failure = await sending;
  reports.inFlight -= 1;
  if (usage.left) return undefined;
  return { type: 'usageReported', ...(failure === undefined ? {} : { failure }) };
}
