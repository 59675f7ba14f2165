// When the batch must be woken although nothing happens to it.

import { collectBy } from './collecting.ts';
import { COLLECTS_IN_FLIGHT, GROUPS_IN_FLIGHT } from './limits.ts';
import type { Command } from './messages.ts';
import { freeSlots } from './slots.ts';
import { hasUnsent, type State } from './state.ts';

/** The earliest moment at which time alone changes what is to be done. */
export function nextWake(state: State): readonly Command[] {
  const at = Math.min(sendAt(state), listAt(state), collectAt(state));
  return Number.isFinite(at) ? [{ type: 'wake', at }] : [];
}

function sendAt(state: State): number {
  const isBlocked = state.paused !== undefined || state.draining || state.groups.size >= GROUPS_IN_FLIGHT;
  // What ends a block is an event of its own.
  if (isBlocked || freeSlots(state) === 0) return Number.POSITIVE_INFINITY;
  const due = hasUnsent(state) && state.holdUntil > state.now ? state.holdUntil : nextDueAt(state);
  return Math.max(due, state.holdUntil);
}

function listAt(state: State): number {
  return state.phases.uncertain > 0 && !state.doubt.inFlight ? state.doubt.nextAt : Number.POSITIVE_INFINITY;
}

function collectAt(state: State): number {
  return state.parts.size < COLLECTS_IN_FLIGHT ? collectBy(state) : Number.POSITIVE_INFINITY;
}

const nextDueAt = (state: State): number => state.waiting[0]?.dueAt ?? Number.POSITIVE_INFINITY;
