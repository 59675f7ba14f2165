// Combines all limits on sending; the strictest one counts. A new limit needs one function and one line here.

import { GROUPS_IN_FLIGHT } from '../bounds.ts';
import { isHeld, sendingProbeAt } from '../pausing/pauses.ts';
import { freeSlots, type State } from '../state/state.ts';
import { circuitBreaker } from './circuit-breaker.ts';
import { grant } from './grant.ts';
import { type Allowance, FREE, type Limit, NEVER } from './allowance.ts';
import { rateLimit, startsPerMinute } from './rate-limit.ts';

/** Limits sending to the free slots. */
export function slots(state: State): Allowance {
  const free = freeSlots(state);
  return free === 0 ? NEVER : { at: 0, most: free };
}

/** A paused batch sends only single probes. */
function pause(state: State): Allowance {
  if (!isHeld(state)) return FREE;
  return state.groups.size === 0 ? { at: sendingProbeAt(state), most: 1 } : NEVER;
}

/** While too many groups are in flight, due attempts wait and join the next group. */
const groupsInFlight = ({ groups }: State): Allowance => (groups.size < GROUPS_IN_FLIGHT ? FREE : NEVER);

/** A batch cannot continue as new while groups are in flight, so it stops sending first. */
const continueAsNew = ({ isStopping }: State): Allowance => (isStopping ? NEVER : FREE);

const LIMITS: readonly Limit[] = [
  continueAsNew,
  slots,
  grant,
  groupsInFlight,
  pause,
  circuitBreaker,
  rateLimit,
  startsPerMinute,
];

export function allowance(state: State): Allowance {
  let at = 0;
  let most = Number.POSITIVE_INFINITY;
  for (const limit of LIMITS) {
    const one = limit(state);
    at = Math.max(at, one.at);
    most = Math.min(most, one.most);
  }
  // A limit that allows no attempt has no time: an empty group would be sent again and again.
  return { at: most < 1 ? Number.POSITIVE_INFINITY : at, most };
}
