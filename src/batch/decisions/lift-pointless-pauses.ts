// Ends pauses that no probe can end any more. A probe by sending needs a row to send and a free slot, a probe by
// polling needs a run, and a probe of a file host needs a row that waits for its files. A user need not resume a batch whose
// rows have all ended.

import { slotsAllowed } from '../limits/adaptive-cap.ts';
import { unpause } from '../pausing/pauses.ts';
import { hasUnsent, isIdle, type State } from '../state/state.ts';
import { dueIf, type Decision } from './decision.ts';

export const liftPointlessPauses: Decision = {
  name: 'lift-pointless-pauses',
  dueAt: (state) =>
    dueIf(
      isPointlessToSend(state) ||
        isPointlessToRead(state) ||
        isPointlessToFetch(state) ||
        isPointlessToWait(state),
    ),
  act: (state) => {
    if (isPointlessToSend(state)) unpause(state, 'blocked', 'unreachable');
    if (isPointlessToRead(state)) unpause(state, 'unreadable');
    if (isPointlessToFetch(state)) unpause(state, 'files');
    if (isPointlessToWait(state)) unpause(state, ...NEED_USER);
    return [];
  },
};

/** Pauses that keep the batch from sending until the user resumes it. */
const NEED_USER = ['user', 'failures', 'deadline', 'budget'] as const;

const isPointlessToWait = (state: State): boolean =>
  isIdle(state) && state.pass >= state.wantedPass && NEED_USER.some((kind) => state.pauses.has(kind));

function isPointlessToSend(state: State): boolean {
  if (!state.pauses.has('blocked') && !state.pauses.has('unreachable')) return false;
  const { waiting, sending, unconfirmed } = state.phases;
  const isLeft = waiting + sending > 0 || hasUnsent(state);
  return !isLeft || unconfirmed >= slotsAllowed(state);
}

const isPointlessToRead = ({ pauses, phases }: State): boolean =>
  pauses.has('unreadable') && phases.running === 0;

const isPointlessToFetch = ({ pauses, deferred, parts }: State): boolean =>
  pauses.has('files') && deferred.length + parts.size === 0;
