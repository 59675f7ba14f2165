import { GROUPS_IN_FLIGHT } from '../bounds.ts';
import type { State } from '../state.ts';
import { FREE, NEVER, type Allowance } from './limit.ts';

/** What is due while too many groups are in flight waits, and makes the next group larger. */
export const groupsInFlight = ({ groups }: State): Allowance =>
  groups.size < GROUPS_IN_FLIGHT ? FREE : NEVER;
