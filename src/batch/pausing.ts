// A batch that cannot go on pauses itself: nothing is failed by it, and every command shows why. It goes on when the user
// says so, or by itself: where sending is what went wrong, one attempt at a time is let through to see; where writing is,
// one part.
//
//   running ──401, credits, no such deployment──► refused ─────┐
//      │    ──nothing could be sent for a while─► unreachable ─┤ every 15 s, then less often: one attempt
//      │    ──runs cannot be read for long───────► unread ──────┤ every look tries
//      │    ──the folder cannot be written──────► store ───────┤ the same: one part
//      │    ──attempts nobody knows of hold─────► doubt ───────┤ until they are known, or the user decides
//      │      half of the slots                                │
//      └◄──────────────────────────────────────────────────────┘

import type { Uncertain } from './entry.ts';
import { PROBE_MAX_MS, PROBE_MS, UNREACHABLE_AFTER } from './limits.ts';
import type { Order } from './order.ts';
import { hasUnsent, uncertainEntries, type State } from './state.ts';

export type PauseKind = 'refused' | 'unreachable' | 'unread' | 'store' | 'doubt';

export type Pause = {
  readonly kind: PauseKind;
  readonly reason: string;
  readonly since: number;
  /** When to see whether it is well again; never, where only news can tell. */
  readonly probeAt: number;
  readonly probes: number;
};

/** The first reason stands until all is well. */
export function pause(state: State, kind: PauseKind, reason: string): void {
  state.paused ??= { kind, reason, since: state.now, probeAt: state.now + PROBE_MS, probes: 0 };
}

/** Something was let through to see whether it is well again; the next time is later. */
export function probed(state: State): void {
  if (state.paused === undefined) return;
  const probes = state.paused.probes + 1;
  const waitMs = Math.min(PROBE_MAX_MS, PROBE_MS * 2 ** Math.min(16, probes));
  state.paused = { ...state.paused, probes, probeAt: state.now + waitMs };
}

/** All is well again, if this is what the batch is paused for. */
export function unpause(state: State, ...kinds: readonly PauseKind[]): void {
  if (state.paused !== undefined && kinds.includes(state.paused.kind)) state.paused = undefined;
}

/** When the next attempt may be let through although the batch is paused; never, where sending is not what is wrong. */
export function probeAt({ paused, groups }: State): number {
  const isBySending = paused?.kind === 'refused' || paused?.kind === 'unreachable';
  return paused !== undefined && isBySending && groups.size === 0 ? paused.probeAt : Number.POSITIVE_INFINITY;
}

/** Nothing was sent, again and again: the service is down, or the way to it. */
export function pauseWhenUnreachable(state: State, reason: string): void {
  if (state.bounces >= UNREACHABLE_AFTER) pause(state, 'unreachable', `nothing can be sent: ${reason}`);
}

/** Runs whose ends cannot be seen keep their slots: without this a batch would stand still and say nothing. */
export function heedReading(state: State, reason: string | undefined): readonly [] {
  if (reason === undefined) unpause(state, 'unread');
  else pause(state, 'unread', `runs cannot be read: ${reason}`);
  return [];
}

/**
 * What would be refused is no reason to wait where no probe can go: nothing is left to send, as the last attempt may have been
 * the probe, or attempts in doubt hold every slot.
 */
export function liftIdlePause(state: State): void {
  const { waiting, sending, uncertain } = state.phases;
  const isLeft = waiting + sending > 0 || hasUnsent(state);
  if (!isLeft || uncertain >= state.order.cap) unpause(state, 'refused', 'unreachable');
  // Only a look tells that runs can be read again, and nothing is looked at.
  if (state.phases.running === 0) unpause(state, 'unread');
}

/** R12: attempts of which nobody knows, and which no list will tell of, must not eat the batch silently. */
export function pauseForDoubt(state: State): void {
  if (state.phases.uncertain === 0 || state.cancelling !== undefined) return unpause(state, 'doubt');
  const stuck = uncertainEntries(state).filter((entry) => isStuck(state, entry));
  const most = state.order.uncertain.rule === 'ask' ? 1 : state.order.cap / 2;
  if (stuck.length < most || stuck.length === 0) return unpause(state, 'doubt');
  if (state.paused === undefined) pause(state, 'doubt', doubtWords(state, stuck));
}

/** Older than any proof would have taken. */
export const isStuck = ({ order, now }: State, entry: Uncertain): boolean => now >= stuckFrom(order, entry);

function stuckFrom({ timing }: Order, { sentBy }: Uncertain): number {
  return sentBy + timing.postDeadlineMs + timing.settleWithoutControlMs + 2 * timing.listGapMs;
}

/** When the oldest attempt in doubt becomes a reason to pause; never, where none is in doubt or the batch is paused. */
export function stuckAt(state: State): number {
  if (state.paused !== undefined || state.phases.uncertain === 0) return Number.POSITIVE_INFINITY;
  const times = uncertainEntries(state).map((entry) => stuckFrom(state.order, entry));
  return Math.min(...times.filter((at) => at > state.now));
}

const ROWS_NAMED = 10;

function doubtWords({ order }: State, stuck: readonly Uncertain[]): string {
  const rows = stuck.slice(0, ROWS_NAMED).map(({ row }) => row);
  const more = stuck.length > ROWS_NAMED ? ` and ${stuck.length - ROWS_NAMED} more` : '';
  return `${stuck.length} of ${order.cap} slots are held by attempts that may be runs, and no list tells: rows ${rows.join(', ')}${more}`;
}
