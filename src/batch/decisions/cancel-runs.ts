// Cancels runs: duplicates, runs that take too long, and all runs if the user requests that. A few activities cancel many
// runs each, because thousands of pending activities would block the workflow permanently.

import { CANCELS_IN_FLIGHT } from '../bounds.ts';
import { completeAttempt } from '../on-event/run-events.ts';
import { oldestOverdue, type State } from '../state/state.ts';
import { type Decision, dueIf, NEVER } from './decision.ts';

export const CANCEL_RUNS = 100;

/** How long the service may take to end an overdue run that we asked it to cancel. */
export const CANCEL_PATIENCE_MS = 60_000;

export const cancelRuns: Decision = {
  dueAt: (state) => dueIf(state.cancelsInFlight.size < CANCELS_IN_FLIGHT && waiting(state) > 0),
  act: (state) => {
    const inFlight = new Set([...state.cancelsInFlight.values()].flat().map(({ runId }) => runId));
    const runs = [...state.cancels.values()]
      .filter(({ runId }) => !inFlight.has(runId))
      .slice(0, CANCEL_RUNS);
    const id = state.nextCancel;
    state.nextCancel += 1;
    state.cancelsInFlight.set(id, runs);
    return [{ type: 'cancelRuns', id, runs }];
  },
};

function waiting({ cancels, cancelsInFlight }: State): number {
  let count = cancels.size;
  for (const runs of cancelsInFlight.values()) count -= runs.length;
  return count;
}

/**
 * R8: stops waiting for an overdue run that does not end after the service was asked to cancel it. The run may still be
 * running, so its row ends as unknown.
 */
export const abandonRuns: Decision = {
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
  },
};
