// R12: pauses the batch if unconfirmed attempts hold too many slots: if no run list resolves them, they must not use up
// all slots unnoticed. In a pool, the slots are those that it grants.

import { slotsAllowed } from '../limits/adaptive-cap.ts';
import { grant } from '../limits/grant.ts';
import { pause, unpause } from '../pausing/pauses.ts';
import { hasUnsent, unconfirmedRows, type State } from '../state/state.ts';
import { isStuck, stuckFrom } from '../unconfirmed.ts';
import { dueIf, NEVER, type Decision } from './decision.ts';
import { nextAttemptAt } from './send.ts';

const ROWS_NAMED = 10;

export const pauseForUnconfirmed: Decision = {
  name: 'pause-for-unconfirmed',
  dueAt: (state) => (state.pauses.has('unconfirmed') ? NEVER : tooManyAt(state)),
  act: (state) => {
    const stuck = unconfirmedRows(state).filter((row) => isStuck(state, row));
    const places = stuck.slice(0, ROWS_NAMED).map(({ place }) => place);
    const text = `${stuck.length} of ${ownSlots(state)} slots are held by attempts that may have started runs, and no run list resolves them`;
    const more = stuck.length - places.length;
    if (state.version >= 4) pause(state, 'unconfirmed', text, { places });
    else
      pause(state, 'unconfirmed', `${text}: rows ${places.join(', ')}${more > 0 ? ` and ${more} more` : ''}`);
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
  const half = Math.max(1, Math.ceil(ownSlots(state) / 2));
  const some = holdAll(state) ? Math.min(half, state.unconfirmed.length) : half;
  const most = unconfirmed.rule === 'ask' ? 1 : some;
  const row = state.rows.get(state.unconfirmed[most - 1] ?? 0);
  return row?.phase === 'unconfirmed' ? stuckFrom(state, row) : NEVER;
}

/** The slots that the batch may use. A pool that has taken all of them back says nothing about those that are held. */
function ownSlots(state: State): number {
  const allowed = slotsAllowed(state);
  const { version, membership } = state;
  return version < 4 || membership === undefined || membership.limit === 0
    ? allowed
    : Math.min(allowed, membership.limit);
}

/** Whether rows are left that no lane may send, and no other run is in flight: a canary, a new rung or a limit of a GPU has few slots. */
const holdAll = (state: State): boolean =>
  state.phases.sending + state.phases.running === 0 &&
  (hasUnsent(state) || state.phases.waiting > 0) &&
  (nextAttemptAt(state) === NEVER || (state.version >= 4 && grant(state).most === 0));
