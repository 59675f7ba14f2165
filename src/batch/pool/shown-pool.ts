// What a pool shows to people and programs in its memo.

import { definedOnly } from '../../options/defined-only.ts';
import { chargeOf, limitOf } from './rebalance.ts';
import type { Member, PoolState } from './pool-state.ts';

const COMMANDS_SHOWN = 20;

function shownMember(one: Member) {
  const { member, weight, urgency, used, wanted, goneAt, runsEndMs } = one;
  return definedOnly({
    /** The id of its workflow. */
    member,
    weight,
    urgency,
    /** How many slots it may use, uses and could use. */
    granted: limitOf(one),
    used,
    wanted,
    /** How many slots the pool counts as taken by it. */
    charged: chargeOf(one),
    /** Its workflow ended without giving its slots back, at this time; and when they are free at the latest. */
    goneAt,
    freeAt: goneAt === undefined || runsEndMs === undefined ? undefined : goneAt + runsEndMs,
  });
}
export type ShownMember = ReturnType<typeof shownMember>;

export function shownPool({ name, size, members, turnedAway, knownCommands }: PoolState) {
  const shown: readonly ShownMember[] = members.map(shownMember);
  const sum = (of: (one: ShownMember) => number): number => shown.reduce((total, one) => total + of(one), 0);
  return definedOnly({
    pool: name,
    size,
    batches: members.length,
    used: sum(({ used }) => used),
    charged: sum(({ charged }) => charged),
    members: shown,
    /** Batches that wait for a member to leave, because the pool is full. */
    turnedAway: turnedAway?.length,
    /** The latest commands that are in force. */
    commands: knownCommands.slice(-COMMANDS_SHOWN),
  });
}
export type ShownPool = ReturnType<typeof shownPool>;
