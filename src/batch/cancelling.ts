// Ending a batch early: nothing more is sent, rows that wait are cancelled, and runs go on or are cancelled too.

import { endRow } from './ends.ts';
import { PAST_REASON_CHARS } from './limits.ts';
import type { Command, Overdue } from './messages.ts';
import { put, runningEntries, type State } from './state.ts';

export function cancelBatch(state: State, running: boolean): readonly Command[] {
  if (state.closing) return [];
  state.cancelling = running || state.cancelling === 'running' ? 'running' : 'unsent';
  // A paused batch would never end: cancelling is an answer to the pause.
  state.paused = undefined;
  for (const entry of state.entries.values()) {
    if (entry.phase === 'waiting')
      endRow(state, entry, { outcome: 'cancelled', reason: 'cancelled before it was sent again' });
  }
  return running ? cancelRunning(state) : [];
}

/** R8: what takes too long is cancelled, and only its end lets the row be tried again. */
export function cancelOverdue(state: State, runs: readonly Overdue[]): readonly Command[] {
  const late = runs.filter(({ row, attempt, runId, reason }) => {
    const entry = state.entries.get(row);
    const isIt = entry?.phase === 'running' && entry.attempt === attempt && entry.runId === runId;
    if (!isIt || entry.overdue !== undefined) return false;
    put(state, { ...entry, overdue: { at: state.now, reason: reason.slice(0, PAST_REASON_CHARS) } });
    return true;
  });
  const names = late.map(({ row, attempt, runId }) => ({ row, attempt, runId }));
  return names.length > 0 ? [{ type: 'cancelRuns', runs: names }] : [];
}

export function cancelRunning(state: State): readonly Command[] {
  const runs = runningEntries(state).map(({ row, attempt, runId }) => ({ row, attempt, runId }));
  return runs.length > 0 ? [{ type: 'cancelRuns', runs }] : [];
}
