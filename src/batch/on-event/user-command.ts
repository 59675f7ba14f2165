// Handles the commands of a user. Each is acknowledged in the memo, where the command line waits for the acknowledgement.

import { cancelRun } from '../accounting/duplicates.ts';
import { ACKNOWLEDGED_MOST } from '../bounds.ts';
import type { Event } from '../events.ts';
import { NO_LIMIT } from '../state.ts';
import { runningRow, type State } from '../state.ts';
import { endRow } from './end-row.ts';
import { decideUnconfirmed } from './list-read.ts';
import { fetchNow } from './part-collected.ts';

export function acknowledge(state: State, id: string | undefined): void {
  if (id === undefined) return;
  state.acknowledgements = [...state.acknowledgements, { id, ok: true }].slice(-ACKNOWLEDGED_MOST);
}

/** Stops sending and cancels the rows that wait. Runs continue, or are cancelled too if `running` is set. */
export function onCancel(state: State, running: boolean): void {
  if (state.closing) return;
  state.cancelling = running || state.cancelling === 'running' ? 'running' : 'unsent';
  // A paused batch would never finish.
  state.pauses.clear();
  for (const row of state.waiting.slice())
    endRow(state, row, { outcome: 'cancelled', reason: 'cancelled before it was sent again' });
  if (running) cancelAllRunning(state);
}

export function cancelAllRunning(state: State): void {
  if (state.phases.running === 0) return;
  for (const number of state.rows.keys()) {
    const row = runningRow(state, number);
    if (row) cancelRun(state, { row: number, attempt: row.attempt, runId: row.runId });
  }
}

/** Ends every pause and every wait. */
export function onResume(state: State, unconfirmed: Extract<Event, { type: 'resume' }>['unconfirmed']): void {
  if (unconfirmed !== undefined) decideUnconfirmed(state, unconfirmed);
  state.pauses.clear();
  state.filesFailSince = undefined;
  fetchNow(state);
  state.trouble = undefined;
  state.holdUntil = state.now;
  state.consecutiveFailures = 0;
  state.rateLimit = NO_LIMIT;
}

export function onRefresh(state: State, commandId: string | undefined): void {
  state.isStopping = true;
  if (commandId !== undefined) state.refreshIds = [...state.refreshIds, commandId].slice(-ACKNOWLEDGED_MOST);
}
