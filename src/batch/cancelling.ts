// Ending a batch early: nothing more is sent, rows that wait are cancelled, and runs go on or are cancelled too.

import { endRow } from './ends.ts';
import type { Command } from './messages.ts';
import { runningEntries, type State } from './state.ts';

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

export function cancelRunning(state: State): readonly Command[] {
  const runs = runningEntries(state).map(({ row, attempt, runId }) => ({ row, attempt, runId }));
  return runs.length > 0 ? [{ type: 'cancelRuns', runs }] : [];
}
