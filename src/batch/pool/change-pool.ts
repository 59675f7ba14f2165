// A batch joins or leaves a pool while it runs. Its runs go on: those of a batch that joins may exceed the pool until they end,
// and those of one that leaves are no longer counted.

import type { State } from '../state/state.ts';
import { newMembership } from './messages.ts';
import { usageOf } from './wanted.ts';

export const isPoolName = (value: unknown): boolean =>
  typeof value === 'string' && value !== 'none' && /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,99}$/.test(value);

/** Joins the pool of the new parameters, after the batch has left the one before. */
export function changePool(state: State, before: string | undefined): void {
  leave(state, before);
  state.membership = state.params.pool === undefined ? undefined : newMembership(state.wallAt, state);
}

/** The last report is sent even if an earlier one is still on its way. */
export function leave(state: State, pool: string | undefined): void {
  const { membership } = state;
  if (membership === undefined || pool === undefined) return;
  const usage = { ...usageOf(state, membership), number: membership.number + 1, left: true as const };
  state.leaves = [...(state.leaves ?? []), { pool, usage }];
}
