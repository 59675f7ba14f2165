// Cancels runs: duplicates, runs that take too long, and all runs if the user requests that. A few activities cancel many
// runs each, because thousands of pending activities would block the workflow permanently.

import { CANCELS_IN_FLIGHT } from '../bounds.ts';
import type { State } from '../state/state.ts';
import { type Decision, dueIf } from './decision.ts';

export const CANCEL_RUNS = 100;

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
