// How a batch continues as new (R17):
//
//   long history ─┬─ runs end often ──▶ stops sending ──▶ nothing outstanding, or no end for 250 ms ──▶ continues
//                 └─ otherwise ──▶ a moment without a group, in whose task only a timer fires ──▶ continues
//                                  └─ five moments were none, or 4,000 events ──▶ stops sending, and tries again
//
// Whatever arrives during the workflow task of a continue-as-new makes Temporal reject it, and costs a replay. A task in which
// only a timer fires is the least likely to be disturbed: ends come together, so one end announces others.

import { condition, makeContinueAsNewFunc, sleep, workflowInfo } from '@temporalio/workflow';
import type { BatchRef } from '../src/batch/batch-ref.ts';
import {
  CONTINUE_AT_EVENTS,
  CONTINUE_AT_SIGNALS,
  CONTINUE_BY_EVENTS,
  MOMENT_MS,
  MOMENTS_SENDING,
  MOMENTS_STOPPED,
  REST_QUIET_MS,
} from '../src/batch/bounds.ts';
import { progress, type Progress } from '../src/batch/shown/progress.ts';
import { endsOften, isAtRest } from '../src/batch/state/at-rest.ts';
import { maySnapshot, snapshot } from '../src/batch/state/snapshot.ts';
import type { State } from '../src/batch/state/state.ts';
import type { BatchInput } from './batch-input.ts';

/** What this workflow run has received. */
export type Received = {
  signals: number;
  /** The length of the history when the latest event of any kind arrived. */
  eventAt: number;
  /** How many moments were none, until sending stopped or since then. */
  moments: number;
};

/** Whether the history is so long that the batch needs a moment in which it can continue as new. */
export const isLong = (signals = 0): boolean => {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  return historyLength >= CONTINUE_AT_EVENTS || signals >= CONTINUE_AT_SIGNALS || continueAsNewSuggested;
};

/** Whether sending has to stop, because the batch would find no such moment otherwise. */
export function mustStopSending(state: State, { signals, moments }: Received): boolean {
  if (state.isStopping) return false;
  if (workflowInfo().historyLength >= CONTINUE_BY_EVENTS) return true;
  const isDisturbed = endsOften(state) || moments >= MOMENTS_SENDING;
  return state.version >= 3 && isLong(signals) && !isReading(state) && isDisturbed;
}

/** Whether the batch has to continue as new, and may: no group and no close are in flight. */
export const mayContinueAsNew = (state: State, { signals }: Received): boolean =>
  ((isLong(signals) && !isReading(state)) || state.isStopping) && maySnapshot(state);

/** Continue-as-new restarts the reading of the run lists, so a long reading would never end. */
const isReading = (state: State): boolean =>
  state.reconcile.requestedAt !== undefined && workflowInfo().historyLength < CONTINUE_BY_EVENTS;

/** Waits for a good moment; returns false if it was none. */
export async function goodMoment(state: State, received: Received): Promise<boolean> {
  const rests = state.isStopping && endsOften(state);
  const { signals } = received;
  const isFree = (): boolean => isAtRest(state) || state.finished;
  if (rests && (await condition(isFree, REST_QUIET_MS))) return true;
  if (!rests) await sleep(MOMENT_MS);
  const isAlone = received.eventAt !== workflowInfo().historyLength;
  if (isAlone && (!rests || signals === received.signals)) return true;
  received.moments += 1;
  return state.isStopping && received.moments >= MOMENTS_STOPPED;
}

/** The memo keeps the progress until the next workflow run publishes its own. */
export function continueBatch(ref: BatchRef, state: State): Promise<never> {
  const memo = { ...workflowInfo().memo, progress: progress(state) };
  const next = snapshot(state);
  return makeContinueAsNewFunc<(input: BatchInput) => Promise<Progress>>({ memo })({
    ...ref,
    version: next.version,
    snapshot: next,
  });
}
