// Messages between a batch and its pool. All values are absolute, so a message that is lost, late or repeated does no
// harm as long as later ones arrive; see pool-state.ts.

/** The report of a batch to its pool. */
export type Usage = {
  /** When the batch joined, by Temporal's clock. It distinguishes memberships of the same batch. */
  readonly life: number;
  /** Reports of a membership are numbered from 1. */
  readonly number: number;
  /** The newest grant that is in force for the batch, 0 for none, and its limit. */
  readonly epoch: number;
  readonly limit: number;
  /** How many slots the attempts of the batch hold, unconfirmed ones included. */
  readonly used: number;
  /** How many slots the batch could use now, including slots in use. */
  readonly wanted: number;
  readonly weight: number;
  readonly urgency: number;
  /** The longest time for which the service lets its runs live; absent if nothing bounds it. */
  readonly runsEndMs?: number;
  /** The batch sends nothing more and its slots are free. */
  readonly left?: true;
};

/** A report and the workflow of its batch. */
export type MemberUsage = Usage & { readonly member: string };

/** How many slots a batch may use, until a grant with a higher epoch says otherwise. */
export type Grant = {
  readonly life: number;
  readonly epoch: number;
  readonly limit: number;
  /** The slots of the whole pool; absent from an older worker. */
  readonly size?: number;
};

/** The view that a batch has of its place in a pool. */
export type Membership = {
  readonly life: number;
  /** When the batch joined, by its own clock. */
  readonly joinedAt: number;
  /** The number of its latest report. */
  readonly number: number;
  readonly epoch: number;
  readonly limit: number;
  /** The slots of the whole pool, as far as it is known. */
  readonly size?: number;
  /** A report is on its way. */
  readonly isReporting?: true;
  /** The latest report without its number, and when it was sent. */
  readonly reported?: { readonly at: number; readonly text: string };
  /** Why the pool cannot be reached, since when by the batch's clock, and when the batch tries again. */
  readonly failure?: { readonly reason: string; readonly since: number; readonly againAt: number };
};

/** The last report of a membership. */
export type Leave = { readonly pool: string; readonly usage: Usage };

/** A batch that joins has no slots until its pool grants some. */
export const newMembership = (life: number, { now }: Joining): Membership => ({
  life,
  joinedAt: now,
  number: 0,
  epoch: 0,
  limit: 0,
});

type Joining = { readonly now: number };

/** A batch that had ended joins again. */
export const rejoined = ({ life }: Membership, joining: Joining & { readonly wallAt: number }): Membership =>
  newMembership(Math.max(joining.wallAt, life + 1), joining);

/** Nothing is known about the reports that an earlier workflow run sent, so the next one comes immediately. */
export const unreported = ({ life, joinedAt, number, epoch, limit, size }: Membership): Membership => ({
  life,
  joinedAt,
  number,
  epoch,
  limit,
  ...(size === undefined ? {} : { size }),
});
