// The state of a pool, and the slots that it counts as taken. A member may act on its newest grant, and until its next
// report also on earlier, higher ones. The report names the grant in force and the slots in use: from then on the member
// cannot use more than it uses already, or than that grant or a newer one allows. So slots return as runs end, and no
// slot is granted twice.

import type { MemberUsage } from './messages.ts';

/** How many slots the member uses at most until its next report. */
export const chargeOf = ({ used, grants }: Pick<PoolMember, 'used' | 'grants'>): number =>
  Math.max(used, ...grants.map(({ limit }) => limit));

const NOTHING: Granted = { epoch: 0, limit: 0 };

/** The last grant to the member. */
export const newestGrant = ({ grants }: Pick<PoolMember, 'grants'>): Granted => grants.at(-1) ?? NOTHING;

export const limitOf = (member: Pick<PoolMember, 'grants'>): number => newestGrant(member).limit;

/** Adds a grant. An earlier limit counts only if it is higher than every later one. */
export const withGrant = (grants: readonly Granted[], next: Granted): readonly Granted[] => [
  ...grants.filter(({ limit }) => limit > next.limit),
  next,
];

/**
 * The grants that count once the member has named the grant in force. A pool whose state was lost learns that grant
 * from the member.
 */
export const afterReport = (grants: readonly Granted[], inForce: Granted): readonly Granted[] =>
  grants.filter(({ epoch }) => epoch > inForce.epoch).reduce<readonly Granted[]>(withGrant, [inForce]);

/** A limit that a member may still act on. */
type Granted = { readonly epoch: number; readonly limit: number };

export type PoolMember = MemberUsage & {
  /** Oldest first, each lower than the one before: the last one is the newest. See {@link chargeOf}. */
  readonly grants: readonly Granted[];
  /** The member has joined, or joined again, and has received no grant since. */
  readonly isNew?: true;
  /** When its latest report arrived, and when it was last sent a grant. */
  readonly heardAt: number;
  readonly toldAt: number;
  /** When its workflow stopped running, although it has not left. */
  readonly goneAt?: number;
};

export type PoolState = {
  readonly name: string;
  size: number;
  /**
   * The epoch of the newest grant to any member. A new pool starts at Temporal's time, so a pool that is created
   * again goes on.
   */
  epoch: number;
  members: readonly PoolMember[];
  /** Batches that cannot join because the pool is full, and when each last asked. */
  turnedAway?: readonly { readonly member: string; readonly at: number }[];
  /** The last reports of members that left: a late report must not make them members again. */
  departed: readonly Pick<PoolMember, 'member' | 'life' | 'number'>[];
  /** The latest commands; a repeated signal must not execute them again. */
  knownCommands: readonly string[];
};

export const newPool = (name: string, now: number): PoolState => ({
  name,
  size: 0,
  epoch: now,
  members: [],
  departed: [],
  knownCommands: [],
});
