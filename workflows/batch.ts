// The shell around `src/batch`: Temporal's messages become events, commands become activities and timers. All decisions are
// made there; all that is remembered is in `state`.

import type { BatchRef } from '../src/batch/batch-ref.ts';
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  TimeoutFailure,
  Trigger,
  condition,
  makeContinueAsNewFunc,
  setHandler,
  sleep,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import { CONTINUE_AT_EVENTS, CONTINUE_AT_SIGNALS, CONTINUE_BY_EVENTS } from '../src/batch/bounds.ts';
import type { Command } from '../src/batch/commands.ts';
import { EVIDENCE, RESULTS, type Event, type GroupResult } from '../src/batch/events.ts';
import { progress, type Progress } from '../src/batch/progress.ts';
import { maySnapshot, restore, snapshot, type Snapshot } from '../src/batch/snapshot.ts';
import { begin, type State } from '../src/batch/state.ts';
import { step } from '../src/batch/step.ts';
import { readableVersion } from '../src/batch/version.ts';
import { bindActivities, type BoundActivities } from './activities.ts';
import * as signals from './signals.ts';

export type BatchInput = BatchRef & {
  /** The version in which the batch began; see src/batch/version.ts. */
  readonly version?: number;
  /** Set by continue-as-new, and for a batch that was rebuilt. */
  readonly snapshot?: Snapshot;
};

/** Brings every row of a batch to one outcome; the result is its last progress. */
export async function runsheetBatch({
  batch,
  mark,
  folder,
  version = 1,
  ...input
}: BatchInput): Promise<Progress> {
  const ref = { batch, mark, folder };
  const activities = bindActivities(ref);
  const { state, started } = input.snapshot
    ? { state: restore(input.snapshot), started: { type: 'started' } as const }
    : await load(activities, readableVersion(version));
  const { tell, decide, failed } = connect(activities, state);
  const signalCount = listen(tell);
  tell(started);

  for (;;) {
    const isOver = (): boolean => state.finished || mayContinueAsNew(state, signalCount());
    await CancellationScope.nonCancellable(() => Promise.race([condition(isOver), failed]));
    // What came in the same moment is decided first; it may send a group, and then the history is not left yet.
    decide();
    if (state.finished) return progress(state);
    if (mayContinueAsNew(state, signalCount())) return continueBatch(ref, state);
  }
}

async function load(
  activities: BoundActivities,
  version: number,
): Promise<{ readonly state: State; readonly started: Event }> {
  const { params, serviceNowMs } = await activities.loadBatch();
  const time = serviceNowMs === undefined ? {} : { serviceNowMs };
  return { state: begin(params, version, Date.now()), started: { type: 'started', ...time } };
}

/** The memo says how the batch stands until the next workflow run says it anew. */
function continueBatch(ref: BatchRef, state: State): Promise<never> {
  const memo = { ...workflowInfo().memo, progress: progress(state) };
  const next = snapshot(state);
  return makeContinueAsNewFunc<typeof runsheetBatch>({ memo })({
    ...ref,
    version: next.version,
    snapshot: next,
  });
}

/** R17: a history that grew long is left at the first moment without a group in flight. */
function mayContinueAsNew(state: State, signalCount: number): boolean {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  const isLong =
    historyLength >= CONTINUE_AT_EVENTS || signalCount >= CONTINUE_AT_SIGNALS || continueAsNewSuggested;
  // A reading of the lists would begin anew; a long one would never end.
  const isReading = state.reconcile.askedAt !== undefined && historyLength < CONTINUE_BY_EVENTS;
  return ((isLong && !isReading) || state.isStopping) && maySnapshot(state);
}

/** Turns signals into events; returns how many this workflow run has had. */
function listen(tell: Tell): () => number {
  let count = 0;
  const on = (event: Event): void => {
    count += 1;
    tell(event);
  };
  setHandler(signals.runsCompleted, (by, completions) => on({ type: 'runsCompleted', by, completions }));
  setHandler(signals.runsSeen, (runs) => on({ type: 'runsSeen', runs }));
  setHandler(signals.runsOverdue, (runs) => on({ type: 'runsOverdue', runs }));
  setHandler(signals.serviceRead, (read) => on({ type: 'serviceRead', ...read }));
  setHandler(signals.cancelBatch, (command) => on({ type: 'cancel', ...command }));
  setHandler(signals.resumeBatch, (command) => on({ type: 'resume', ...command }));
  setHandler(signals.refreshBatch, (command) => on({ type: 'refresh', ...command }));
  // Temporal's own cancel, from its command line or pages, means the same as ours with the running runs.
  void CancellationScope.current().cancelRequested.catch(() => tell({ type: 'cancel', running: true }));
  return () => count;
}

type Tell = (event: Event) => void;
type Connection = {
  /** Keeps an event for the decision at the end of this moment. */
  readonly tell: Tell;
  /** Decides now what follows from all events that are kept. */
  readonly decide: () => void;
  /** Rejects when an activity failed for good. */
  readonly failed: Trigger<never>;
};

/** Feeds events to the state and carries its commands out; every command's answer comes back as an event. */
function connect(activities: BoundActivities, state: State): Connection {
  const wake = openTimers();
  const failed = new Trigger<never>();
  const lasting = new CancellationScope({ cancellable: false });
  let events: Event[] = [];

  const decide = (): void => {
    const isTooLong = !state.isStopping && workflowInfo().historyLength >= CONTINUE_BY_EVENTS;
    if (isTooLong) events.push({ type: 'stopSending' });
    if (events.length === 0) return;
    const told = events;
    events = [];
    const commands = step(state, told, Date.now());
    // A batch that is cancelled still writes what it has; nothing of ours is torn off.
    void lasting.run(async () => commands.forEach(start));
  };

  const start = (command: Command): void => {
    const work = carryOut({ activities, state, wake }, command);
    // An activity that failed for good fails the batch, with its message; nothing is swallowed.
    void work.then((event) => event && tell(event)).catch(failed.reject);
  };

  const tell: Tell = (event) => {
    events.push(event);
    if (events.length === 1) void Promise.resolve().then(decide).catch(failed.reject);
  };
  return { tell, decide, failed };
}

type Context = { readonly activities: BoundActivities; readonly state: State; readonly wake: Wake };

/** Does what was asked for; the event says what came of it. */
async function carryOut({ activities, state, wake }: Context, command: Command): Promise<Event | undefined> {
  switch (command.type) {
    case 'send':
      return sendGroup(activities, command);
    case 'reconcile':
      return { type: 'listRead', reading: await activities.reconcileRuns(inputOf(command)) };
    case 'poll':
      await activities.pollRuns(inputOf(command));
      return { type: 'pollEnded', poll: command.poll };
    case 'collect':
      return stored(command.part, async () => ({
        type: 'partCollected',
        part: command.part,
        result: await activities.collectRows({ ...inputOf(command), pass: state.params.pass }),
      }));
    case 'cancelRuns':
      return cancelled(activities, command);
    case 'keepEvidence':
      return stored(EVIDENCE, async () => {
        await activities.keepEvidence(inputOf(command));
        return { type: 'evidenceKept', count: command.runs.length };
      });
    case 'close':
      return stored(RESULTS, async () => {
        await activities.finalizeBatch({
          ...inputOf(command),
          progress: progress(state),
          startedAt: state.startedWallAt,
          endedAt: Date.now(),
          isEvidenceLost: state.isEvidenceLost,
        });
        return { type: 'closed' };
      });
    case 'publish':
      upsertMemo({ progress: progress(state) });
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

type Wake = (afterMs: number) => Promise<Event | undefined>;

/** Starts no timer beside one that fires earlier, which asks again then; cancelling one would cost as many events. */
function openTimers(): Wake {
  const timers = new Set<number>();
  return async (afterMs) => {
    const now = Date.now();
    const at = now + afterMs;
    // A timer from before the clock was set back fires late, and is none to wait for.
    if ([...timers].some((time) => time > now && time <= at)) return undefined;
    timers.add(at);
    await sleep(Math.max(1, afterMs));
    timers.delete(at);
    return { type: 'woke' };
  };
}

type CommandOf<T extends Command['type']> = Extract<Command, { type: T }>;

async function sendGroup(
  { queueRuns }: BoundActivities,
  { group, attempts }: CommandOf<'send'>,
): Promise<Event> {
  try {
    const result = await queueRuns({ attempts });
    return { type: 'groupEnded', group, ...result, rest: 'unconfirmed' };
  } catch (error) {
    return { type: 'groupEnded', group, ...resultOfFailed(error) };
  }
}

/** Runs that the service would not cancel for long go on, and end like any other. */
async function cancelled(activities: BoundActivities, { id, runs }: CommandOf<'cancelRuns'>): Promise<Event> {
  try {
    await activities.cancelRuns({ runs });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
  }
  return { type: 'runsCancelled', id };
}

/** A store that takes nothing is no failure of the batch: it waits. Throws every other error. */
async function stored(item: number, work: () => Promise<Event>): Promise<Event> {
  try {
    return await work();
  } catch (error) {
    const cause = error instanceof ActivityFailure ? error.cause : undefined;
    if (cause instanceof ApplicationFailure && cause.type === 'StoreFailed')
      return { type: 'storeFailed', item, reason: cause.message };
    throw error;
  }
}

/** What is known of a group whose activity failed (R2). */
function resultOfFailed(
  error: unknown,
): GroupResult & { readonly rest: 'not-sent' | 'unconfirmed'; readonly reason: string } {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  const reason = cause?.message ?? String(error);
  if (cause instanceof ApplicationFailure && cause.type === 'NothingSent')
    return { results: [], rest: 'not-sent', reason };
  if (!(cause instanceof TimeoutFailure)) return { results: [], rest: 'unconfirmed', reason };
  const known = cause.lastHeartbeatDetails as GroupResult | undefined;
  // No POST begins before the first heartbeat is confirmed; without one nothing was sent.
  return known
    ? { ...known, rest: 'unconfirmed', reason: 'the worker that sent it was lost' }
    : { results: [], rest: 'not-sent', reason };
}
