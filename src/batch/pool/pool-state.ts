// The state of a pool. It is plain JSON, because it is also the input of the next workflow run.

import type { MemberUsage } from './messages.ts';

/** A limit that a member may still act on. */
export type Granted = { readonly epoch: number; readonly limit: number };

export type Member = MemberUsage & {
  /** Oldest first, each lower than the one before: the last one is the newest. See charges.ts. */
  readonly grants: readonly Granted[];
  /** It has joined, or joined again, and was granted nothing since. */
  readonly isNew?: true;
  readonly joinedAt: number;
  /** When its latest report arrived, and when it was last sent a grant. */
  readonly heardAt: number;
  readonly toldAt: number;
  /** Since when its workflow no longer runs, although it has not left. */
  readonly goneAt?: number;
};

export type PoolState = {
  readonly name: string;
  size: number;
  /** Of the newest grant to any member. It starts at Temporal's time, so that a pool that is made again goes on. */
  epoch: number;
  members: readonly Member[];
  /** Batches that cannot join, because the pool is full, and when each one asked last. */
  turnedAway?: readonly { readonly member: string; readonly at: number }[];
  /** The last reports of members that left: a late one must not make them members again. */
  departed: readonly Pick<Member, 'member' | 'life' | 'number'>[];
  /** The latest commands, which a repeated signal must not carry out again. */
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
