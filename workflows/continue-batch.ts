// How a batch continues as new (R17):
//
//   long history ─┬─ runs end often ──▶ stops sending ──▶ nothing outstanding, or no end for 250 ms ──▶ continues
//                 └─ otherwise ──▶ a moment without a group, in whose task only a timer fires ──▶ continues
//                                  └─ five moments were none, or 4,000 events ──▶ stops sending, and tries again
//
// Temporal rejects a continue-as-new if anything arrives during its workflow task, which costs a replay. A task in
// which only a timer fires is the least likely to be disturbed: ends come together, so one end announces others.

import { CONTINUE_AT_EVENTS } from '../src/batch/bounds.ts';
import { progress } from '../src/batch/shown/progress.ts';
import { endsOften, isAtRest } from '../src/batch/state/rest.ts';
import { maySnapshot, snapshot } from '../src/batch/state/snapshot.ts';
import type { State } from '../src/batch/state/state.ts';
import type { BatchRuntime } from './batch-runtime.ts';

/** History events after which a batch stops sending, so that it can continue as new. */
const CONTINUE_BY_EVENTS = 4_000;

/**
 * A batch at rest in which no run has ended for this time continues with its outstanding runs: they take longer than
 * usual.
 */
const REST_QUIET_MS = 250;

/** The timer in whose task a batch continues as new otherwise. */
const MOMENT_MS = 30;

/** After this many failed moments a batch stops sending to find one; after this many more it takes any moment. */
const MOMENTS_SENDING = 5;
const MOMENTS_STOPPED = 20;

/** Signals after which a workflow run continues as new; the server refuses the 10,001st. */
const CONTINUE_AT_SIGNALS = 5_000;

export type Received = {
  signals: number;
  /** The length of the history when the latest event of any kind arrived. */
  eventAt: number;
  /** How many moments failed, until sending stopped or since then. */
  moments: number;
};

type History = Pick<BatchRuntime, 'history'>;

/** Whether the history is so long that the batch needs a moment in which it can continue as new. */
export const isLong = (runtime: History, signals = 0): boolean => {
  const { historyLength, continueAsNewSuggested } = runtime.history();
  return historyLength >= CONTINUE_AT_EVENTS || signals >= CONTINUE_AT_SIGNALS || continueAsNewSuggested;
};

/** Whether sending has to stop, because the batch would find no good moment otherwise. */
export function mustStopSending(runtime: History, state: State, { signals, moments }: Received): boolean {
  if (state.isStopping) return false;
  if (runtime.history().historyLength >= CONTINUE_BY_EVENTS) return true;
  const isDisturbed = endsOften(state) || moments >= MOMENTS_SENDING;
  return isLong(runtime, signals) && !isReading(runtime, state) && isDisturbed;
}

/** Whether the batch has to continue as new, and may: no group and no close are in flight. */
export const mayContinueAsNew = (runtime: History, state: State, { signals }: Received): boolean =>
  ((isLong(runtime, signals) && !isReading(runtime, state)) || state.isStopping) && maySnapshot(state);

/** Continue-as-new restarts the reading of the run lists, so a long reading would never end. */
const isReading = (runtime: History, state: State): boolean =>
  state.reconcile.requestedAt !== undefined && runtime.history().historyLength < CONTINUE_BY_EVENTS;

/** Waits for a good moment; returns false if the moment was disturbed. */
export async function goodMoment(runtime: BatchRuntime, state: State, received: Received): Promise<boolean> {
  const rests = state.isStopping && endsOften(state);
  const { signals } = received;
  const isFree = (): boolean => isAtRest(state) || state.finished;
  if (rests && (await runtime.conditionWithin(isFree, REST_QUIET_MS))) return true;
  if (!rests) await runtime.sleep(MOMENT_MS);
  const isAlone = received.eventAt !== runtime.history().historyLength;
  if (isAlone && (!rests || signals === received.signals)) return true;
  received.moments += 1;
  return state.isStopping && received.moments >= MOMENTS_STOPPED;
}

export const continueBatch = (runtime: BatchRuntime, state: State): Promise<never> =>
  runtime.continueAsNew(snapshot(state), progress(state));
