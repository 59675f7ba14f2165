// What a pool counts as taken. A member may act on its newest grant, and until it says otherwise also on earlier, higher ones.
// Its report names the grant that is in force for it and how many slots it uses: from then on it cannot use more than it uses, or
// than that grant or a newer one allows. So slots return as its runs end, and nothing is granted twice.

import type { Granted, Member } from './pool-state.ts';

/** How many slots the member uses at most until its next report. */
export const chargeOf = ({ used, grants }: Pick<Member, 'used' | 'grants'>): number =>
  Math.max(used, ...grants.map(({ limit }) => limit));

const NOTHING: Granted = { epoch: 0, limit: 0 };

/** What the member was granted last. */
export const newestGrant = ({ grants }: Pick<Member, 'grants'>): Granted => grants.at(-1) ?? NOTHING;

export const limitOf = (member: Pick<Member, 'grants'>): number => newestGrant(member).limit;

/** An earlier limit counts only if it is higher than every later one. */
export const withGrant = (grants: readonly Granted[], next: Granted): readonly Granted[] => [
  ...grants.filter(({ limit }) => limit > next.limit),
  next,
];

/** The grants that count after the member has named the one in force. A pool that was lost learns it from the member. */
export const afterReport = (grants: readonly Granted[], inForce: Granted): readonly Granted[] =>
  grants.filter(({ epoch }) => epoch > inForce.epoch).reduce<readonly Granted[]>(withGrant, [inForce]);
