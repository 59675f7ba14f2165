// R12: pauses the batch if unconfirmed attempts hold too many slots: if no run list resolves them, they must not use up
// all slots unnoticed.

import { slotsAllowed } from '../limits/adaptive-cap.ts';
import { pause, unpause } from '../pausing/pauses.ts';
import { hasUnsent, unconfirmedRows, type State } from '../state/state.ts';
import { isStuck, stuckFrom } from '../unconfirmed.ts';
import { dueIf, NEVER, type Decision } from './decision.ts';
import { nextAttemptAt } from './send.ts';

export const pauseForUnconfirmed: Decision = {
  name: 'pause-for-unconfirmed',
  dueAt: (state) => (state.pauses.has('unconfirmed') ? NEVER : tooManyAt(state)),
  act: (state) => {
    pause(state, 'unconfirmed', pauseReason(state));
    return [];
  },
};

export const resumeFromUnconfirmed: Decision = {
  name: 'resume-from-unconfirmed',
  dueAt: (state) => dueIf(state.pauses.has('unconfirmed') && tooManyAt(state) > state.now),
  act: (state) => {
    unpause(state, 'unconfirmed');
    return [];
  },
};

/**
 * When enough attempts are stuck to pause the batch: half of the slots, or one if the user wants to be asked, or all that there
 * are if they alone keep the batch from sending.
 */
function tooManyAt(state: State): number {
  if (state.cancelling !== undefined || state.unconfirmed.length === 0) return NEVER;
  const { unconfirmed } = state.params;
  const half = Math.max(1, Math.ceil(slotsAllowed(state) / 2));
  const some = holdAll(state) ? Math.min(half, state.unconfirmed.length) : half;
  const most = unconfirmed.rule === 'ask' ? 1 : some;
  const row = state.rows.get(state.unconfirmed[most - 1] ?? 0);
  return row?.phase === 'unconfirmed' ? stuckFrom(state, row) : NEVER;
}

/** Whether rows are left that no lane may send, and no other run is in flight: a canary, a new rung or a limit of a GPU has few slots. */
const holdAll = (state: State): boolean =>
  state.phases.sending + state.phases.running === 0 &&
  (hasUnsent(state) || state.phases.waiting > 0) &&
  nextAttemptAt(state) === NEVER;

const ROWS_NAMED = 10;

function pauseReason(state: State): string {
  const stuck = unconfirmedRows(state).filter((row) => isStuck(state, row));
  const rows = stuck.slice(0, ROWS_NAMED).map(({ place }) => place);
  const more = stuck.length > ROWS_NAMED ? ` and ${stuck.length - ROWS_NAMED} more` : '';
  return `${stuck.length} of ${slotsAllowed(state)} slots are held by attempts that may have started runs, and no run list resolves them: rows ${rows.join(', ')}${more}`;
}
