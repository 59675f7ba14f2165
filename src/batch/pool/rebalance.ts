// Decides how many slots each member gets: the more urgent ones first, in proportion to their weights among equally urgent ones.
// A limit is raised only by slots that no member is charged for, and lowered only if another one lacks them.

import { chargeOf, limitOf, withGrant } from './charges.ts';
import type { Member, PoolState } from './pool-state.ts';
import { shares, type Claim } from './shares.ts';

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
