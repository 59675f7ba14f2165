import { GROUPS_IN_FLIGHT } from '../bounds.ts';
import type { State } from '../state/state.ts';
import { FREE, NEVER, type Allowance } from './limit.ts';

/** While too many groups are in flight, due attempts wait and join the next group. */
export const groupsInFlight = ({ groups }: State): Allowance =>
  groups.size < GROUPS_IN_FLIGHT ? FREE : NEVER;
