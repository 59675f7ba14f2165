// What a pool shows to people and programs in its memo.

import { chargeOf, limitOf } from './rebalance.ts';
import type { PoolState } from './pool-state.ts';

export type ShownMember = {
  /** The id of its workflow. */
  readonly member: string;
  readonly weight: number;
  readonly urgency: number;
  /** How many slots it may use, uses and could use. */
  readonly granted: number;
  readonly used: number;
  readonly wanted: number;
  /** How many slots the pool counts as taken by it. */
  readonly charged: number;
  /** Its workflow ended without giving its slots back, at this time; and when they are free at the latest. */
  readonly goneAt?: number;
  readonly freeAt?: number;
};

export type ShownPool = {
  readonly pool: string;
  readonly size: number;
  readonly batches: number;
  readonly used: number;
  readonly charged: number;
  readonly members: readonly ShownMember[];
  /** Batches that wait for a member to leave, because the pool is full. */
  readonly turnedAway?: number;
  /** The latest commands that are in force. */
  readonly commands: readonly string[];
};

const COMMANDS_SHOWN = 20;

export function shownPool({ name, size, members, turnedAway, knownCommands }: PoolState): ShownPool {
  const shown = members.map((one): ShownMember => {
    const { member, weight, urgency, used, wanted, goneAt, runsEndMs } = one;
    return {
      member,
      weight,
      urgency,
      granted: limitOf(one),
      used,
      wanted,
      charged: chargeOf(one),
      ...(goneAt === undefined ? {} : { goneAt }),
      ...(goneAt === undefined || runsEndMs === undefined ? {} : { freeAt: goneAt + runsEndMs }),
    };
  });
  const sum = (of: (one: ShownMember) => number): number => shown.reduce((total, one) => total + of(one), 0);
  return {
    pool: name,
    size,
    batches: members.length,
    used: sum(({ used }) => used),
    charged: sum(({ charged }) => charged),
    members: shown,
    ...(turnedAway && { turnedAway: turnedAway.length }),
    commands: knownCommands.slice(-COMMANDS_SHOWN),
  };
}
