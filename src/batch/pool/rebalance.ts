// Decides how many slots each member gets: more urgent members first, equally urgent ones in proportion to their
// weights. A limit rises only by slots that no member is charged for, and falls only if another member lacks them.

import { chargeOf, limitOf, type PoolMember, type PoolState, withGrant } from './pool-state.ts';
import { type Claim, shares } from './shares.ts';

/** Grants free slots; returns the members whose limit has changed, or who have never received one. */
export function rebalance(state: PoolState): readonly string[] {
  const live = state.members.filter(({ goneAt }) => goneAt === undefined);
  const targets = targetsOf(state, live);
  const limits = raised(state, live, targets);
  const isLacking = live.some(({ member }) => of(limits, member) < of(targets, member));
  const charged = state.members.reduce((sum, poolMember) => sum + chargeOf(poolMember), 0);
  if (isLacking || charged > state.size)
    for (const [member, target] of targets) limits.set(member, Math.min(of(limits, member), target));
  const changed = live.filter(
    (poolMember) => poolMember.isNew || of(limits, poolMember.member) !== limitOf(poolMember),
  );
  for (const poolMember of changed) grant(state, poolMember, of(limits, poolMember.member));
  return changed.map(({ member }) => member);
}

type SlotCounts = Map<string, number>;
const of = (numbers: SlotCounts, member: string): number => numbers.get(member) as number;

/** The slots that each member would have if no run were outstanding. */
function targetsOf({ size, members }: PoolState, live: readonly PoolMember[]): SlotCounts {
  const gone = members.filter(({ goneAt }) => goneAt !== undefined);
  const held = gone.reduce((sum, poolMember) => sum + chargeOf(poolMember), 0);
  return byUrgency(Math.max(0, size - held), live, ({ wanted }) => wanted);
}

/** A member may use any slot that it is charged for anyway; free slots are divided among members that lack them. */
function raised({ size, members }: PoolState, live: readonly PoolMember[], targets: SlotCounts): SlotCounts {
  const within = (poolMember: PoolMember): number =>
    Math.max(limitOf(poolMember), Math.min(of(targets, poolMember.member), chargeOf(poolMember)));
  const free = size - members.reduce((sum, poolMember) => sum + chargeOf(poolMember), 0);
  const more = byUrgency(Math.max(0, free), live, (poolMember) =>
    Math.max(0, of(targets, poolMember.member) - chargeOf(poolMember)),
  );
  return new Map(
    live.map((poolMember) => [poolMember.member, within(poolMember) + of(more, poolMember.member)]),
  );
}

function byUrgency(
  slots: number,
  members: readonly PoolMember[],
  wantedBy: (poolMember: PoolMember) => number,
): SlotCounts {
  const granted: SlotCounts = new Map();
  let left = slots;
  const urgencies = [...new Set(members.map(({ urgency }) => urgency))].toSorted((a, b) => b - a);
  for (const urgency of urgencies) {
    const equals = members.filter((poolMember) => poolMember.urgency === urgency);
    const claims = equals.map((poolMember): Claim => ({
      weight: poolMember.weight,
      wanted: wantedBy(poolMember),
    }));
    for (const [at, share] of shares(left, claims).entries()) {
      granted.set((equals[at] as PoolMember).member, share);
      left -= share;
    }
  }
  return granted;
}

function grant(state: PoolState, poolMember: PoolMember, limit: number): void {
  state.epoch += 1;
  const { isNew: _, ...told } = poolMember;
  const grants = withGrant(poolMember.grants, { epoch: state.epoch, limit });
  state.members = state.members.map((current) => (current === poolMember ? { ...told, grants } : current));
}
