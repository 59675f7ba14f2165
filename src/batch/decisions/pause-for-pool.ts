import { pause, unpause } from '../pausing/pauses.ts';
import type { Membership } from '../pool/messages.ts';
import { hasMoreToSend, type State } from '../state/state.ts';
import { type Decision, dueIf, NEVER } from './decision.ts';
import { lacksSlots, poolFault } from './send.ts';

/** A batch pauses after this long without a running pool. */
export const POOL_GONE_MS = 30_000;

/**
 * R30: pauses a batch that its pool leaves without slots for a reason that only a user can remove: the pool is gone,
 * does not answer, or has no slots at all. A pool that has given all its slots to other batches pauses nothing: slots
 * return when their runs end.
 */
export const pauseForPool: Decision = {
  dueAt: (state) => (state.pauses.has('pool') || !lacksSlots(state) ? NEVER : faultAt(state)),
  act: (state) => pause(state, 'pool', poolFault(state)),
};

export const resumeFromPool: Decision = {
  dueAt: (state) => dueIf(state.pauses.has('pool') && (faultAt(state) > state.now || !hasMoreToSend(state))),
  act: (state) => unpause(state, 'pool'),
};

/** The time from which only a user can help; infinite if the pool may still grant slots. */
function faultAt(state: State): number {
  const { membership } = state;
  if (membership === undefined || membership.limit > 0) return NEVER;
  const { failure, size } = membership;
  if (failure !== undefined) return failure.since + POOL_GONE_MS;
  if (size === 0) return 0;
  return isUnanswered(membership) ? membership.joinedAt + POOL_GONE_MS : NEVER;
}

const isUnanswered = ({ epoch }: Membership): boolean => epoch === 0;
