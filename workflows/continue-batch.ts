// How a batch continues as new (R17):
//
//   long history ── runs end often ──▶ stops sending ──▶ at rest ─────────────────────┐
//        │                                    └── 5 s over ──┐                        ▼
//        └───── first moment without a group ────────────────┴─▶ only a timer fires ──▶ continues
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
  MOMENTS_MOST,
  REST_WITHIN_MS,
} from '../src/batch/bounds.ts';
import { progress, type Progress } from '../src/batch/shown/progress.ts';
import { endsOften, isAtRest } from '../src/batch/state/at-rest.ts';
import { maySnapshot, snapshot } from '../src/batch/state/snapshot.ts';
import type { State } from '../src/batch/state/state.ts';
import type { BatchInput } from './batch-input.ts';

/** The signals of this workflow run, and the length of the history when the latest event of any kind arrived. */
export type Received = { signals: number; eventAt: number };

/** Whether the history is so long that the batch needs a moment in which it can continue as new. */
export const isLong = (signals = 0): boolean => {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  return historyLength >= CONTINUE_AT_EVENTS || signals >= CONTINUE_AT_SIGNALS || continueAsNewSuggested;
};

/** Whether sending has to stop, because the batch would find no such moment otherwise. */
export function mustStopSending(state: State, { signals }: Received): boolean {
  if (state.isStopping) return false;
  if (workflowInfo().historyLength >= CONTINUE_BY_EVENTS) return true;
  return state.version >= 3 && isLong(signals) && !isReading(state) && endsOften(state);
}

/** Whether the batch has to continue as new, and may: no group and no close are in flight. */
export const mayContinueAsNew = (state: State, { signals }: Received): boolean =>
  ((isLong(signals) && !isReading(state)) || state.isStopping) && maySnapshot(state);

/** Continue-as-new restarts the reading of the run lists, so a long reading would never end. */
const isReading = (state: State): boolean =>
  state.reconcile.requestedAt !== undefined && workflowInfo().historyLength < CONTINUE_BY_EVENTS;

/** Returns a function that waits for a good moment; it returns false if the moment was none. */
export function momentsOf(state: State, received: Received): () => Promise<boolean> {
  let tries = 0;
  return async () => {
    const isFree = (): boolean => isAtRest(state) || state.finished;
    // Not for ever: runs whose webhooks were lost end only with the next poll.
    if (state.isStopping && endsOften(state) && (await condition(isFree, REST_WITHIN_MS))) return true;
    tries += 1;
    await sleep(MOMENT_MS);
    return received.eventAt !== workflowInfo().historyLength || tries >= MOMENTS_MOST;
  };
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
