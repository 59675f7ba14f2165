// R8: cancels a run that takes too long; its row is retried only after the run has ended.

import { cancelRun } from '../accounting/duplicates.ts';
import { SHORT_REASON_BYTES } from '../bounds.ts';
import { clipped } from '../../options/clipped.ts';
import type { OverdueRun } from '../events.ts';
import { amend } from '../state/put-row.ts';
import { runningRow, type State } from '../state/state.ts';

export function onRunsOverdue(state: State, runs: readonly OverdueRun[]): void {
  for (const { place: number, attempt, runId, reason } of runs) {
    const row = runningRow(state, number);
    if (row?.attempt !== attempt || row.runId !== runId || row.overdue !== undefined) continue;
    amend(state, { ...row, overdue: { at: state.now, reason: clipped(reason, SHORT_REASON_BYTES) } });
    cancelRun(state, { place: number, attempt, runId });
  }
}

/** The service has received the cancel of these runs; its time to end them starts now. */
export function onRunsCancelled(state: State, id: number): void {
  for (const { place: number, runId } of state.cancelsInFlight.get(id) ?? []) {
    const row = runningRow(state, number);
    if (row?.runId === runId && row.overdue !== undefined)
      amend(state, { ...row, overdue: { ...row.overdue, at: state.now } });
    state.cancels.delete(runId);
  }
  state.cancelsInFlight.delete(id);
}
