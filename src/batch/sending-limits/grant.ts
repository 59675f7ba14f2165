// A batch in a pool uses at most the slots that the pool granted it; none before the first grant.

import { wantedSlots } from '../pool/membership.ts';
import { usedSlots, type State } from '../state/state.ts';
import { FREE, NEVER, type Allowance } from './allowance.ts';

export function grant(state: State): Allowance {
  if (state.membership === undefined) return FREE;
  const free = state.membership.limit - usedSlots(state);
  return free > 0 ? { at: 0, most: free } : NEVER;
}

/** Whether the batch could send, but its pool grants it no slot at all. */
export const lacksSlots = (state: State): boolean =>
  state.membership !== undefined && state.membership.limit === 0 && wantedSlots(state) > usedSlots(state);

/** Why the batch has no slots, for display; undefined if it has some, or wants none. */
export function grantReason(state: State): string | undefined {
  const { membership, params } = state;
  if (membership === undefined || !lacksSlots(state)) return undefined;
  if (membership.failure !== undefined || membership.size === 0) return poolFault(state);
  return membership.epoch === 0
    ? `waits for pool ${params.pool} to grant slots`
    : `pool ${params.pool} has no free slot for this batch`;
}

/** What only a user can mend. */
export function poolFault({ membership, params: { pool } }: State): string {
  if (membership?.failure !== undefined)
    return `pool ${pool} cannot be reached: ${membership.failure.reason}`;
  return membership?.size === 0
    ? `pool ${pool} has no slots: its size is 0`
    : `pool ${pool} does not answer: it may have as many batches as it can have`;
}
