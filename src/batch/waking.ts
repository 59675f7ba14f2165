// When the batch must be woken although nothing happens to it.

import { collectBy, mayCollect } from './collecting.ts';
import { BREAKER_AFTER, GROUPS_IN_FLIGHT } from './limits.ts';
import type { Command } from './messages.ts';
import { probeAt, stuckAt } from './pausing.ts';
import { freeSlots } from './slots.ts';
import { hasUnsent, isFull, type State } from './state.ts';
import { tellBy } from './telling.ts';
import { lookDueAt } from './watching.ts';

/** The earliest moment at which time alone changes what is to be done. */
export function nextWake(state: State): readonly Command[] {
  if (state.finished) return [];
  const sends = Math.min(sendAt(state), stuckAt(state));
  const reads = Math.min(listAt(state), lookDueAt(state));
  const writes = Math.min(collectAt(state), writeAt(state), tellBy(state));
  const at = Math.min(sends, reads, writes);
  return Number.isFinite(at) ? [{ type: 'wake', at }] : [];
}

function sendAt(state: State): number {
  const isBroken = state.bounces >= BREAKER_AFTER && state.groups.size > 0;
  const isBlocked = state.draining || isBroken || state.groups.size >= GROUPS_IN_FLIGHT;
  // What ends a block is an event of its own.
  if (isBlocked || freeSlots(state) === 0) return Number.POSITIVE_INFINITY;
  const from = Math.max(state.holdUntil, state.pace.nextAt, state.paused === undefined ? 0 : probeAt(state));
  const due = hasUnsent(state) && !isFull(state) && from > state.now ? from : nextDueAt(state);
  return Math.max(due, from);
}

/** When a part that the folder would not take is tried again. */
function writeAt({ paused, unwritten }: State): number {
  return paused?.kind === 'store' && unwritten.size > 0 ? paused.probeAt : Number.POSITIVE_INFINITY;
}

function listAt(state: State): number {
  return state.phases.uncertain > 0 && !state.doubt.inFlight ? state.doubt.nextAt : Number.POSITIVE_INFINITY;
}

function collectAt(state: State): number {
  return mayCollect(state) ? collectBy(state) : Number.POSITIVE_INFINITY;
}

const nextDueAt = (state: State): number => state.waiting[0]?.dueAt ?? Number.POSITIVE_INFINITY;
