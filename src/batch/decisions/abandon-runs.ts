// R8: stops waiting for an overdue run that does not end after the service was asked to cancel it. The run may still be
// running, so its row ends as unknown.

import { completeAttempt } from '../on-event/run-events.ts';
import { oldestOverdue } from '../state/state.ts';
import { type Decision, NEVER } from './decision.ts';

/** How long the service may take to end an overdue run that we asked it to cancel. */
export const CANCEL_PATIENCE_MS = 60_000;

export const abandonRuns: Decision = {
  dueAt: (state) => {
    const row = oldestOverdue(state);
    const mustWait = row === undefined || state.cancels.has(row.runId) || state.pauses.has('unreadable');
    return mustWait ? NEVER : row.overdue.at + CANCEL_PATIENCE_MS;
  },
  // Thousands may be due at the same time, once runs can be read again.
  act: (state) => {
    for (
      let row = oldestOverdue(state);
      row && abandonRuns.dueAt(state) <= state.now;
      row = oldestOverdue(state)
    ) {
      const reason = `${row.overdue.reason}, and could not be cancelled: it may still run`;
      completeAttempt(state, row, { runId: row.runId, outcome: 'unknown', reason });
    }
  },
};
