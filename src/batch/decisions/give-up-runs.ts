// R8: a run that the service was asked to cancel, and that shows no end for long, is not waited for any longer. It may still
// run: its row ends as unknown.

import { CANCEL_PATIENCE_MS } from '../bounds.ts';
import { completeAttempt } from '../on-event/runs-completed.ts';
import { runningRow, type State } from '../state.ts';
import { NEVER, type Decision } from './decision.ts';

export const giveUpRuns: Decision = {
  name: 'give-up-runs',
  dueAt: (state) => {
    const row = oldestOverdue(state);
    const isOpen = row === undefined || state.cancels.has(row.runId) || state.pauses.has('unreadable');
    return isOpen ? NEVER : (row.overdue?.at ?? 0) + CANCEL_PATIENCE_MS;
  },
  act: (state) => {
    const row = oldestOverdue(state);
    if (row === undefined) return [];
    const reason = `${row.overdue?.reason}, and could not be cancelled: it may still run`;
    completeAttempt(state, row, { runId: row.runId, outcome: 'unknown', reason });
    return [];
  },
};

function oldestOverdue(state: State) {
  const [oldest] = state.overdue;
  return oldest === undefined ? undefined : runningRow(state, oldest);
}
