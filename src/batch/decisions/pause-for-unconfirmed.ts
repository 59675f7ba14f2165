import { ROWS_NAMED } from '../bounds.ts';
import { isStuck, stuckFrom } from '../on-event/list-read.ts';
import { pause, unpause } from '../pausing/pauses.ts';
import { slotsAllowed } from '../sending-limits/adaptive-cap.ts';
import { hasUnsent, type State, unconfirmedRows } from '../state/state.ts';
import { type Decision, dueIf, NEVER } from './decision.ts';
import { grant, nextAttemptAt } from './send.ts';

/**
 * R12: pauses the batch if unconfirmed attempts hold too many slots: if no run list resolves them, they must not use up
 * all slots unnoticed. In a pool, the slots are those that it grants.
 */
export const pauseForUnconfirmed: Decision = {
  dueAt: (state) => {
    const at = tooManyAt(state);
    return state.pauses.has('unconfirmed') || !isRead(state, at) ? NEVER : at;
  },
  act: (state) => {
    const stuck = unconfirmedRows(state).filter((row) => isStuck(state, row));
    const places = stuck.slice(0, ROWS_NAMED).map(({ place }) => place);
    const text = `${stuck.length} of ${ownSlots(state)} slots are held by attempts that may have started runs, and no run list resolves them`;
    pause(state, 'unconfirmed', text, { places });
  },
};

/** Whether the lists have answered since `at`, or could not be read for UNREADABLE_MS since: one that answers may resolve the attempts. */
function isRead({ reconcile, version }: State, at: number): boolean {
  const { readAt = 0, answeredAt = 0 } = reconcile;
  return version < 9 ? at <= readAt : at <= answeredAt || at + UNREADABLE_MS <= readAt;
}

/** How long lists may be unreadable before the user is asked about facts that only the lists can prove. */
export const UNREADABLE_MS = 60_000;

export const resumeFromUnconfirmed: Decision = {
  dueAt: (state) => dueIf(state.pauses.has('unconfirmed') && tooManyAt(state) > state.now),
  act: (state) => unpause(state, 'unconfirmed'),
};

/**
 * When enough attempts are stuck to pause the batch: half of the slots; one, if the user wants to be asked; or all
 * that there are, if they alone keep the batch from sending.
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

/** The slots that the batch may use. A pool that has taken all of them back does not change how many are held. */
function ownSlots(state: State): number {
  const allowed = slotsAllowed(state);
  const { membership } = state;
  return membership === undefined || membership.limit === 0 ? allowed : Math.min(allowed, membership.limit);
}

/**
 * Whether rows are left that no lane may send while no other run is in flight: a canary, a new rung or a limit of a
 * GPU has few slots.
 */
const holdAll = (state: State): boolean =>
  state.phases.sending + state.phases.running === 0 &&
  (hasUnsent(state) || state.phases.waiting > 0) &&
  (nextAttemptAt(state) === NEVER || grant(state).most === 0);
