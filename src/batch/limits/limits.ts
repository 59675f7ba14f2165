// Combines all limits on sending; the strictest one counts. A new limit needs one file and one line here.

import type { State } from '../state/state.ts';
import { circuitBreaker } from './circuit-breaker.ts';
import { continueAsNew } from './continue-as-new.ts';
import { grant } from './grant.ts';
import { groupsInFlight } from './groups-in-flight.ts';
import type { Allowance, Limit } from './limit.ts';
import { pause } from './pause.ts';
import { rateLimit } from './rate-limit.ts';
import { slots } from './slots.ts';
import { startsPerMinute } from './starts-per-minute.ts';

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
