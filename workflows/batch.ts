// The workflow around `src/batch`: it turns signals into events, and commands into activities and timers. `src/batch` makes
// all decisions, and `state` holds everything that is remembered.

import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { activitySummary } from '../src/batch/shown/activity-summary.ts';
import type { Command } from '../src/batch/commands.ts';
import { EVIDENCE, LOG, RESULTS, type Event } from '../src/batch/events.ts';
import { progress, type Progress } from '../src/batch/shown/progress.ts';
import { closedSnapshot, continueFrom, restore } from '../src/batch/state/snapshot.ts';
import { begin } from '../src/batch/state/begin.ts';
import type { State } from '../src/batch/state/state.ts';
import { step } from '../src/batch/step.ts';
import { readableVersion } from '../src/batch/version.ts';
import { bindActivities, type BoundActivities } from './activities.ts';
import type { BatchInput } from './batch-input.ts';
import {
  continueBatch,
  goodMoment,
  mayContinueAsNew,
  mustStopSending,
  type Received,
} from './continue-batch.ts';
import * as signals from './signals.ts';
import { publish } from './progress-page.ts';
import { notified } from './notification.ts';
import { sendGroup, type GroupScopes } from './send-group.ts';
import { report, type Told } from './tell-pool.ts';
import { createTimers, type Wake } from './timers.ts';

/** Runs every row of a batch to one outcome; returns the final progress. */
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
    : // A batch that is cancelled before it has read its parameters still ends every row.
      await CancellationScope.nonCancellable(() =>
        load(activities, readableVersion(version), input.continues),
      );
  const received: Received = { signals: 0, eventAt: 0, moments: 0 };
  const { enqueue, decide, failed, told } = connect(activities, state, received);
  listen(enqueue, received);
  enqueue(started);

  // Temporal drops the signals of a workflow run that has ended.
  const mayContinue = (): boolean => told.inFlight === 0 && mayContinueAsNew(state, received);
  const isOver = (): boolean => state.finished || mayContinue();
  const isGoodMoment = async (): Promise<boolean> => goodMoment(state, received);
  const unlessFailed = <T>(wait: () => Promise<T>): Promise<T> =>
    CancellationScope.nonCancellable(() => Promise.race([wait(), failed]));
  for (;;) {
    await unlessFailed(() => condition(isOver));
    // Events of the same workflow task come first: they may send a group, which prevents continue-as-new.
    decide();
    const isGood =
      state.version < 3 || state.finished || !mayContinue() || (await unlessFailed(isGoodMoment));
    decide();
    if (state.finished) return told.last.then(() => progress(state));
    if (isGood && mayContinue()) return continueBatch(ref, state);
  }
}

async function load(
  activities: BoundActivities,
  version: number,
  continues: number | undefined,
): Promise<{ readonly state: State; readonly started: Event }> {
  const { params, closed, serviceNowMs } = await activities.loadBatch(
    continues === undefined ? {} : { continues },
  );
  const time = serviceNowMs === undefined ? {} : { serviceNowMs };
  const now = Date.now();
  const state =
    closed === undefined ? begin(params, version, now) : continueFrom(closed, continues ?? 0, now);
  return { state, started: { type: 'started', ...time } };
}

/** Turns signals into events. */
function listen(enqueue: Enqueue, received: Received): void {
  const on = (event: Event): void => {
    received.signals += 1;
    enqueue(event);
  };
  setHandler(signals.runsCompleted, (by, completions) => on({ type: 'runsCompleted', by, completions }));
  setHandler(signals.runsSeen, (runs) => on({ type: 'runsSeen', runs }));
  setHandler(signals.runsOverdue, (runs) => on({ type: 'runsOverdue', runs }));
  setHandler(signals.serviceRead, (read) => on({ type: 'serviceRead', ...read }));
  setHandler(signals.cancelBatch, (command) => on({ type: 'cancel', ...command }));
  setHandler(signals.pauseBatch, (command) => on({ type: 'pause', ...command }));
  setHandler(signals.scaleBatch, (command) => on({ type: 'scale', ...command }));
  setHandler(signals.resumeBatch, (command) => on({ type: 'resume', ...command }));
  setHandler(signals.retryRows, (command) => on({ type: 'retry', ...command }));
  setHandler(signals.grantSlots, (grant) => on({ type: 'grant', ...grant }));
  setHandler(signals.refreshBatch, (command) => on({ type: 'refresh', ...command }));
  // A cancel from Temporal's command line or web UI also cancels the running runs.
  void CancellationScope.current().cancelRequested.catch(() => enqueue({ type: 'cancel', running: true }));
}

type Enqueue = (event: Event) => void;
type Connection = {
  /** Queues an event; the batch decides about all queued events in the next microtask. */
  readonly enqueue: Enqueue;
  /** Applies all queued events immediately. */
  readonly decide: () => void;
  /** Rejects when an activity failed permanently. */
  readonly failed: Promise<never>;
  readonly told: Told;
};

/** Applies events to the state and executes its commands; the result of each command is an event again. */
function connect(activities: BoundActivities, state: State, received: Received): Connection {
  const wake = createTimers();
  const groups: GroupScopes = new Map();
  const told: Told = { last: Promise.resolve(), inFlight: 0 };
  // No Trigger: that rejects when the workflow is cancelled, and a cancelled batch still writes its results.
  const failed = Promise.withResolvers<never>();
  const lasting = new CancellationScope({ cancellable: false });
  let events: Event[] = [];

  const decide = (): void => {
    if (mustStopSending(state, received)) {
      events.push({ type: 'stopSending' });
      received.moments = 0;
    }
    if (events.length === 0) return;
    const due = events;
    events = [];
    const commands = step(state, due, Date.now());
    // A cancelled batch still writes its results, so its activities are not cancelled.
    void lasting.run(async () => commands.forEach(start));
  };

  const start = (command: Command): void => {
    const work = execute({ activities, state, wake, groups, told }, command);
    // An activity that failed permanently fails the batch, with the same message.
    void work.then((event) => event && enqueue(event)).catch(failed.reject);
  };

  const enqueue: Enqueue = (event) => {
    events.push(event);
    received.eventAt = workflowInfo().historyLength;
    if (events.length === 1) void Promise.resolve().then(decide).catch(failed.reject);
  };
  return { enqueue, decide, failed: failed.promise, told };
}

type Context = {
  readonly activities: BoundActivities;
  readonly state: State;
  readonly wake: Wake;
  readonly groups: GroupScopes;
  readonly told: Told;
};

/** Executes a command; the event carries its result. */
async function execute(
  { activities, state, wake, groups, told }: Context,
  command: Command,
): Promise<Event | undefined> {
  const summary = activitySummary(state, command);
  switch (command.type) {
    case 'send':
      return sendGroup(activities, groups, command, summary);
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
      return {
        type: 'passLoaded',
        pass: command.pass,
        ...(await activities.loadPass({ pass: command.pass }, summary)),
      };
    case 'close':
      return stored(RESULTS, async () => {
        await activities.finalizeBatch(
          {
            ...inputOf(command),
            progress: progress(state),
            startedAt: state.startedWallAt,
            endedAt: Date.now(),
            isEvidenceLost: state.isEvidenceLost,
            closed: closedSnapshot(state),
          },
          summary,
        );
        return { type: 'closed' };
      });
    case 'reportUsage':
      return report(told, command);
    case 'publish':
      publish(state);
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

type CommandOf<T extends Command['type']> = Extract<Command, { type: T }>;

/** A run that the service refuses to cancel continues, and ends like any other. */
async function cancelled(
  activities: BoundActivities,
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

/** A store that cannot be written does not fail the batch: the batch waits. Rethrows every other error. */
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
