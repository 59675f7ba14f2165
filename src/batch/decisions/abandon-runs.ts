// R8: stops waiting for an overdue run that does not end after the service was asked to cancel it. The run may still be
// running, so its row ends as unknown.

import { CANCEL_PATIENCE_MS } from '../bounds.ts';
import { completeAttempt } from '../on-event/runs-completed.ts';
import { oldestOverdue } from '../state/state.ts';
import { NEVER, type Decision } from './decision.ts';

export const abandonRuns: Decision = {
  name: 'abandon-runs',
  dueAt: (state) => {
    const row = oldestOverdue(state);
    const isOpen = row === undefined || state.cancels.has(row.runId) || state.pauses.has('unreadable');
    return isOpen ? NEVER : row.overdue.at + CANCEL_PATIENCE_MS;
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
    return [];
  },
};
