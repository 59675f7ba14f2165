// Delivers the grants of a pool: one at a time to each member, always the newest, and not too many together, because the server
// bounds them and each one is written into the history.

import { POOL_GRANTS_IN_FLIGHT } from '../src/batch/bounds.ts';
import type { MemberGrant } from '../src/batch/pool/pool-step.ts';

export function createDelivery(deliver: (grant: MemberGrant) => Promise<void>) {
  const waiting = new Map<string, MemberGrant>();
  const inFlight = new Set<string>();
  const deliverTo = async (grant: MemberGrant): Promise<void> => {
    await deliver(grant);
    inFlight.delete(grant.member);
    next();
  };
  const next = (): void => {
    for (const [member, grant] of waiting) {
      if (inFlight.size >= POOL_GRANTS_IN_FLIGHT) return;
      if (inFlight.has(member)) continue;
      waiting.delete(member);
      inFlight.add(member);
      void deliverTo(grant);
    }
  };
  return {
    /** `deliver` must not fail. */
    send: (grants: readonly MemberGrant[]): void => {
      for (const one of grants) waiting.set(one.member, one);
      next();
    },
    /** The members that may not have their newest grant. */
    untold: (): readonly string[] => [...new Set([...inFlight, ...waiting.keys()])],
  };
}
