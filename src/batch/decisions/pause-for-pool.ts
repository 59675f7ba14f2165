// R30: pauses a batch that its pool leaves without slots for a reason that only a user can remove: the pool is gone, does not answer,
// or has no slots at all. A batch whose pool has given all slots to others is not paused: it gets some when their runs end.

import { POOL_GONE_MS } from '../bounds.ts';
import { lacksSlots, poolFault } from '../limits/grant.ts';
import { pause, unpause } from '../pausing/pauses.ts';
import type { Membership } from '../pool/messages.ts';
import { hasMoreToSend, type State } from '../state/state.ts';
import { dueIf, NEVER, type Decision } from './decision.ts';

export const pauseForPool: Decision = {
  name: 'pause-for-pool',
  dueAt: (state) =>
    state.version < 4 || state.pauses.has('pool') || !lacksSlots(state) ? NEVER : faultAt(state),
  act: (state) => {
    pause(state, 'pool', poolFault(state));
    return [];
  },
};

export const resumeFromPool: Decision = {
  name: 'resume-from-pool',
  dueAt: (state) => dueIf(state.pauses.has('pool') && (faultAt(state) > state.now || !hasMoreToSend(state))),
  act: (state) => {
    unpause(state, 'pool');
    return [];
  },
};

/** From when on only a user can help; infinite if the pool may still grant slots. */
function faultAt(state: State): number {
  const { membership } = state;
  if (membership === undefined || membership.limit > 0) return NEVER;
  const { failure, size } = membership;
  if (failure !== undefined) return failure.since + POOL_GONE_MS;
  if (size === 0) return 0;
  return isUnanswered(membership) ? joinedAt(state, membership) + POOL_GONE_MS : NEVER;
}

/** By the batch's clock. A membership of an older version knows only Temporal's time. */
const joinedAt = ({ now, wallAt }: State, membership: Membership): number =>
  membership.joinedAt ?? now - wallAt + membership.life;

const isUnanswered = ({ epoch }: Membership): boolean => epoch === 0;
