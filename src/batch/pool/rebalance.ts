// Decides how many slots each member gets: the more urgent ones first, in proportion to their weights among equally urgent ones.
// A limit is raised only by slots that no member is charged for, and lowered only if another one lacks them.

import type { MemberUsage } from './messages.ts';

/** Grants what is free; returns the members whose limit has changed, or who were never told one. */
export function rebalance(state: PoolState): readonly string[] {
  const live = state.members.filter(({ goneAt }) => goneAt === undefined);
  const targets = targetsOf(state, live);
  const limits = raised(state, live, targets);
  const isLacking = live.some(({ member }) => of(limits, member) < of(targets, member));
  const charged = state.members.reduce((sum, one) => sum + chargeOf(one), 0);
  if (isLacking || charged > state.size)
    for (const [member, target] of targets) limits.set(member, Math.min(of(limits, member), target));
  const changed = live.filter((one) => one.isNew || of(limits, one.member) !== limitOf(one));
  for (const one of changed) grant(state, one, of(limits, one.member));
  return changed.map(({ member }) => member);
}

type Numbers = Map<string, number>;
const of = (numbers: Numbers, member: string): number => numbers.get(member) as number;

/** What each member would have if no run were outstanding. */
function targetsOf({ size, members }: PoolState, live: readonly Member[]): Numbers {
  const gone = members.filter(({ goneAt }) => goneAt !== undefined);
  const held = gone.reduce((sum, one) => sum + chargeOf(one), 0);
  return byUrgency(Math.max(0, size - held), live, ({ wanted }) => wanted);
}

/** A member may use what it is charged for anyway; the rest is divided among those that lack it. */
function raised({ size, members }: PoolState, live: readonly Member[], targets: Numbers): Numbers {
  const within = (one: Member): number =>
    Math.max(limitOf(one), Math.min(of(targets, one.member), chargeOf(one)));
  const free = size - members.reduce((sum, one) => sum + chargeOf(one), 0);
  const more = byUrgency(Math.max(0, free), live, (one) =>
    Math.max(0, of(targets, one.member) - chargeOf(one)),
  );
  return new Map(live.map((one) => [one.member, within(one) + of(more, one.member)]));
}

function byUrgency(slots: number, members: readonly Member[], wantedBy: (one: Member) => number): Numbers {
  const found: Numbers = new Map();
  let left = slots;
  const urgencies = [...new Set(members.map(({ urgency }) => urgency))].toSorted((a, b) => b - a);
  for (const urgency of urgencies) {
    const equals = members.filter((one) => one.urgency === urgency);
    const claims = equals.map((one): Claim => ({ weight: one.weight, wanted: wantedBy(one) }));
    for (const [at, given] of shares(left, claims).entries()) {
      found.set((equals[at] as Member).member, given);
      left -= given;
    }
  }
  return found;
}

function grant(state: PoolState, one: Member, limit: number): void {
  state.epoch += 1;
  const { isNew: _, ...rest } = one;
  const grants = withGrant(one.grants, { epoch: state.epoch, limit });
  state.members = state.members.map((other) => (other === one ? { ...rest, grants } : other));
}

// Weighted max-min fairness in whole slots.

type Claim = { readonly weight: number; readonly wanted: number };

/**
 * Divides slots in proportion to the weights. None gets more than it wants; what it leaves is divided among the others. The
 * sum is the smaller one of `slots` and everything that is wanted.
 */
export function shares(slots: number, claims: readonly Claim[]): readonly number[] {
  const given = claims.map(() => 0);
  const at = (index: number): Claim => claims[index] as Claim;
  let open = claims.flatMap(({ wanted }, index) => (wanted > 0 ? [index] : []));
  let left = Math.max(0, slots);
  let each = 0;
  while (open.length > 0) {
    each = left / open.reduce((sum, index) => sum + at(index).weight, 0);
    const content = open.filter((index) => at(index).wanted <= each * at(index).weight);
    if (content.length === 0) break;
    for (const index of content) left -= given[index] = at(index).wanted;
    open = open.filter((index) => !content.includes(index));
  }
  for (const index of open) left -= given[index] = Math.floor(each * at(index).weight);
  const behind = (index: number): number => ((given[index] as number) + 1) / at(index).weight;
  // Fewer than there are claims.
  for (const index of open.toSorted((a, b) => behind(a) - behind(b)).slice(0, left))
    given[index] = (given[index] as number) + 1;
  return given;
}

// What a pool counts as taken. A member may act on its newest grant, and until it says otherwise also on earlier, higher ones.
// Its report names the grant that is in force for it and how many slots it uses: from then on it cannot use more than it uses, or
// than that grant or a newer one allows. So slots return as its runs end, and nothing is granted twice.

/** How many slots the member uses at most until its next report. */
export const chargeOf = ({ used, grants }: Pick<Member, 'used' | 'grants'>): number =>
  Math.max(used, ...grants.map(({ limit }) => limit));

const NOTHING: Granted = { epoch: 0, limit: 0 };

/** What the member was granted last. */
export const newestGrant = ({ grants }: Pick<Member, 'grants'>): Granted => grants.at(-1) ?? NOTHING;

export const limitOf = (member: Pick<Member, 'grants'>): number => newestGrant(member).limit;

/** An earlier limit counts only if it is higher than every later one. */
const withGrant = (grants: readonly Granted[], next: Granted): readonly Granted[] => [
  ...grants.filter(({ limit }) => limit > next.limit),
  next,
];

/** The grants that count after the member has named the one in force. A pool that was lost learns it from the member. */
export const afterReport = (grants: readonly Granted[], inForce: Granted): readonly Granted[] =>
  grants.filter(({ epoch }) => epoch > inForce.epoch).reduce<readonly Granted[]>(withGrant, [inForce]);

/** A limit that a member may still act on. */
type Granted = { readonly epoch: number; readonly limit: number };

export type Member = MemberUsage & {
  /** Oldest first, each lower than the one before: the last one is the newest. See {@link chargeOf}. */
  readonly grants: readonly Granted[];
  /** It has joined, or joined again, and was granted nothing since. */
  readonly isNew?: true;
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
