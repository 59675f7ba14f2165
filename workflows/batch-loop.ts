// The loop of a batch: turns signals and results into events, and the commands of `step` into activities and timers,
// until the batch has ended or continues as new. `state` holds everything that is remembered. The simulator of the
// tests runs this code as well, so it reaches Temporal only through `runtime`.

import type { Event } from '../src/batch/events.ts';
import type { Command } from '../src/batch/commands.ts';
import { progress, type Progress } from '../src/batch/shown/progress.ts';
import { continueFrom, restore, type Snapshot } from '../src/batch/state/snapshot.ts';
import { begin, type State } from '../src/batch/state/state.ts';
import { step } from '../src/batch/step.ts';
import { readableVersion } from '../src/batch/behaviour-version.ts';
import type { BatchInput } from './signals.ts';
import { type BatchRuntime, createTimers } from './batch-runtime.ts';
import {
  continueBatch,
  goodMoment,
  mayContinueAsNew,
  mustStopSending,
  type Received,
} from './continue-batch.ts';
import { execute, type GroupScopes, type Reports } from './execute-command.ts';

/** The state with which a workflow run begins, and its first event. */
export type Loaded = { readonly state: State; readonly started: Event };

export const restored = (snapshot: Snapshot): Loaded => ({
  state: restore(snapshot),
  started: { type: 'started' },
});

/** A batch that is cancelled before it has read its parameters still ends every row. */
export const loadState = (
  runtime: BatchRuntime,
  { version = 1, continues }: Pick<BatchInput, 'version' | 'continues'>,
): Promise<Loaded> => runtime.nonCancellable(() => load(runtime, readableVersion(version), continues));

async function load(runtime: BatchRuntime, version: number, continues: number | undefined): Promise<Loaded> {
  const { params, closed, serviceNowMs } = await runtime.activities.loadBatch(
    continues === undefined ? {} : { continues },
  );
  const time = serviceNowMs === undefined ? {} : { serviceNowMs };
  const now = runtime.now();
  const state =
    closed === undefined ? begin(params, version, now) : continueFrom(closed, continues ?? 0, now);
  return { state, started: { type: 'started', ...time } };
}

/** Runs every row of a batch to one outcome; returns the final progress. */
export async function runBatchLoop(runtime: BatchRuntime, { state, started }: Loaded): Promise<Progress> {
  const received: Received = { signals: 0, eventAt: 0, moments: 0 };
  const { enqueue, decide, failed, reports } = connect(runtime, state, received);
  const receive = (event: Event): void => {
    received.signals += 1;
    enqueue(event);
  };
  // A cancel from Temporal's command line or web UI also cancels the running runs.
  runtime.listen(receive, () => enqueue({ type: 'cancel', running: true }));
  enqueue(started);

  // Temporal drops the signals of a workflow run that has ended.
  const mayContinue = (): boolean => reports.inFlight === 0 && mayContinueAsNew(runtime, state, received);
  // Events that arrive while the last report to the pool is on its way are handled too: they may bring the rows of
  // another pass.
  const hasEnded = (): boolean => state.finished && (state.version < 4 || reports.inFlight === 0);
  const isOver = (): boolean => hasEnded() || mayContinue();
  const isGoodMoment = async (): Promise<boolean> => goodMoment(runtime, state, received);
  const unlessFailed = <T>(wait: () => Promise<T>): Promise<T> =>
    runtime.nonCancellable(() => Promise.race([wait(), failed]));
  for (;;) {
    await unlessFailed(() => runtime.condition(isOver));
    // Events of the same workflow task come first: they may send a group, which prevents continue-as-new.
    decide();
    const isGood = state.finished || !mayContinue() || (await unlessFailed(isGoodMoment));
    decide();
    if (hasEnded()) return reports.last.then(() => progress(state));
    if (isGood && mayContinue()) return continueBatch(runtime, state);
  }
}

type Enqueue = (event: Event) => void;
type Connection = {
  /** Queues an event; the batch decides about all queued events in the next microtask. */
  readonly enqueue: Enqueue;
  /** Applies all queued events immediately. */
  readonly decide: () => void;
  /** Rejects when an activity failed permanently. */
  readonly failed: Promise<never>;
  readonly reports: Reports;
};

/** Applies events to the state and executes its commands; the result of each command is an event again. */
function connect(runtime: BatchRuntime, state: State, received: Received): Connection {
  const wake = createTimers(runtime);
  const groups: GroupScopes = new Map();
  const reports: Reports = { last: Promise.resolve(), inFlight: 0 };
  // Not a Trigger, which rejects when the workflow is cancelled: a cancelled batch still writes its results.
  const failed = Promise.withResolvers<never>();
  let events: Event[] = [];

  const decide = (): void => {
    if (mustStopSending(runtime, state, received)) {
      events.push({ type: 'stopSending' });
      received.moments = 0;
    }
    if (events.length === 0) return;
    const due = events;
    events = [];
    const commands = step(state, due, runtime.now());
    // A cancelled batch still writes its results, so its activities are not cancelled.
    void runtime.nonCancellable(async () => commands.forEach(start));
  };

  const start = (command: Command): void => {
    const work = execute({ runtime, state, wake, groups, reports }, command);
    // An activity that failed permanently fails the batch, with the same message.
    void work.then((event) => event && enqueue(event)).catch(failed.reject);
  };

  const enqueue: Enqueue = (event) => {
    events.push(event);
    received.eventAt = runtime.history().historyLength;
    if (events.length === 1) void Promise.resolve().then(decide).catch(failed.reject);
  };
  return { enqueue, decide, failed: failed.promise, reports };
}
