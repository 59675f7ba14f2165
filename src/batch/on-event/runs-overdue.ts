// R8: a run that takes too long is cancelled, and only its end lets the row be tried again.

import { cancelRun } from '../accounting/duplicates.ts';
import { SHORT_REASON_BYTES } from '../bounds.ts';
import { clipped } from '../clipped.ts';
import type { OverdueRun } from '../events.ts';
import { amend, runningRow, type State } from '../state.ts';

export function onRunsOverdue(state: State, runs: readonly OverdueRun[]): void {
  for (const { row: number, attempt, runId, reason } of runs) {
    const row = runningRow(state, number);
    if (row?.attempt !== attempt || row.runId !== runId || row.overdue !== undefined) continue;
    amend(state, { ...row, overdue: { at: state.now, reason: clipped(reason, SHORT_REASON_BYTES) } });
    cancelRun(state, { row: number, attempt, runId });
  }
}

/** The service was asked to cancel these runs; from now on it is given time to end them. */
export function onRunsCancelled(state: State, id: number): void {
  for (const { row: number, runId } of state.cancelsInFlight.get(id) ?? []) {
    const row = runningRow(state, number);
    if (row?.runId === runId && row.overdue !== undefined)
      amend(state, { ...row, overdue: { ...row.overdue, at: state.now } });
    state.cancels.delete(runId);
  }
  state.cancelsInFlight.delete(id);
}
