// Applies what a pool has received, and returns the members to which a grant must be sent. Pure, as the step of a batch.

import { POOL_MEMBERS_MAX, POOL_SILENT_MS, COMMANDS_KNOWN } from '../bounds.ts';
import { POOL_SIZE_MAX, POOL_URGENCY_MAX, POOL_WEIGHT_MAX, CONCURRENCY_MAX } from '../../options/bounds.ts';
import type { Grant, MemberUsage } from './messages.ts';
import {
  afterReport,
  newestGrant,
  rebalance,
  type Member,
  type PoolState,
  chargeOf,
  limitOf,
} from './rebalance.ts';
import { definedOnly } from '../../options/defined-only.ts';

/** Departed members, and batches for which a pool has no room, that it remembers. */
export const POOL_DEPARTED_MAX = 1_000;

export type PoolEvent =
  /** A workflow run of the pool begins: what the one before it sent to these members may be lost; absent: to any. */
  | { readonly type: 'started'; readonly undelivered?: readonly string[] }
  | { readonly type: 'usage'; readonly usage: MemberUsage }
  | { readonly type: 'resize'; readonly commandId: string; readonly size: number }
  /** A user says that a member whose workflow no longer runs has no more runs. */
  | { readonly type: 'release'; readonly commandId: string; readonly member: string }
  /** A grant could not be delivered, because the workflow of the member does not run; `number`: of its last report then. */
  | { readonly type: 'notRunning'; readonly member: string; readonly life: number; readonly number: number }
  | { readonly type: 'woke' };

/** A grant and the member that it is for. */
export type MemberGrant = { readonly member: string; readonly number: number; readonly grant: Grant };

/** Changes `state`; `now` is Temporal's time. */
export function poolStep(
  state: PoolState,
  events: readonly PoolEvent[],
  now: number,
): readonly MemberGrant[] {
  const undelivered = new Set(events.flatMap((event) => apply(state, event, now)));
  for (const one of state.members) if (hasEnded(one, now)) depart(state, one);
  const changed = rebalance(state);
  const isSilent = ({ heardAt, toldAt, goneAt }: Member): boolean =>
    goneAt === undefined && now - Math.max(heardAt, toldAt) >= POOL_SILENT_MS;
  const silent = state.members.filter(isSilent).map(({ member }) => member);
  return tell(state, new Set([...undelivered, ...changed, ...silent]), now);
}

/** When something happens without another event; infinite if nothing does. */
export const poolDueAt = ({ members }: PoolState): number =>
  members.reduce((least, { heardAt, toldAt, goneAt, runsEndMs = Number.POSITIVE_INFINITY }) => {
    const dueAt = goneAt === undefined ? Math.max(heardAt, toldAt) + POOL_SILENT_MS : goneAt + runsEndMs;
    return Math.min(least, dueAt);
  }, Number.POSITIVE_INFINITY);

/** Returns the members to which their grant must be sent again. */
function apply(state: PoolState, event: PoolEvent, now: number): readonly string[] {
  switch (event.type) {
    case 'started':
      return membersToTell(state, event.undelivered);
    case 'usage':
      onUsage(state, event.usage, now);
      return [];
    case 'resize':
      if (!isFirst(state, event.commandId) || !isWhole(event.size, 0, POOL_SIZE_MAX)) return [];
      return resize(state, event.size);
    case 'release':
      if (isFirst(state, event.commandId)) onRelease(state, event.member);
      return [];
    case 'notRunning':
      onNotRunning(state, event, now);
      return [];
    case 'woke':
      return [];
  }
}

/** Telling everyone would fill a large part of the history of the workflow run that has just begun. */
const membersToTell = ({ members }: PoolState, undelivered?: readonly string[]): readonly string[] =>
  members
    .filter(({ member, goneAt }) => goneAt === undefined && (undelivered?.includes(member) ?? true))
    .map(({ member }) => member);

/** A batch without slots must know whether there are any, because it pauses if there are none. */
function resize(state: PoolState, size: number): readonly string[] {
  const isOther = (state.size === 0) !== (size === 0);
  state.size = size;
  return isOther ? membersToTell(state) : [];
}

function isFirst(state: PoolState, commandId: string): boolean {
  if (state.knownCommands.includes(commandId)) return false;
  state.knownCommands = [...state.knownCommands, commandId].slice(-COMMANDS_KNOWN);
  return true;
}

type Report = Pick<MemberUsage, 'life' | 'number'>;

const isNewer = (report: Report, known: Report | undefined): boolean =>
  known === undefined ||
  report.life > known.life ||
  (report.life === known.life && report.number > known.number);

function onUsage(state: PoolState, usage: MemberUsage, now: number): void {
  if (!isUsable(usage)) return;
  const isOwn = ({ member }: { readonly member: string }): boolean => member === usage.member;
  const before = state.members.find(isOwn);
  if (!isNewer(usage, before ?? state.departed.find(isOwn))) return;
  forgetTurnedAway(state, usage.member, now);
  if (usage.left) return depart(state, usage);
  if (before === undefined && state.members.length >= POOL_MEMBERS_MAX)
    return turnAway(state, usage.member, now);
  state.departed = state.departed.filter((one) => !isOwn(one));
  // Without a pool's state, this one begins after every grant that a member has.
  state.epoch = Math.max(state.epoch, usage.epoch);
  const { epoch, limit } = usage;
  const member: Member = {
    ...usage,
    grants: afterReport(before?.grants ?? [], { epoch, limit }),
    heardAt: now,
    toldAt: before?.toldAt ?? now,
    ...(before?.life === usage.life && !before.isNew ? {} : { isNew: true }),
  };
  state.members = before
    ? state.members.map((one) => (one === before ? member : one))
    : [...state.members, member];
}

/** It asks again each minute, and joins as soon as another member has left. */
function turnAway(state: PoolState, member: string, at: number): void {
  state.turnedAway = [...(state.turnedAway ?? []), { member, at }].slice(-POOL_DEPARTED_MAX);
}

function forgetTurnedAway(state: PoolState, member: string, now: number): void {
  if (state.turnedAway === undefined) return;
  const others = state.turnedAway.filter((one) => one.member !== member && one.at > now - 2 * POOL_SILENT_MS);
  if (others.length > 0) state.turnedAway = others;
  else delete state.turnedAway;
}

function depart(
  state: PoolState,
  { member, life, number }: Pick<Member, 'member' | 'life' | 'number'>,
): void {
  state.members = state.members.filter((one) => one.member !== member);
  const others = state.departed.filter((one) => one.member !== member);
  state.departed = [...others, { member, life, number }].slice(-POOL_DEPARTED_MAX);
}

function onRelease(state: PoolState, name: string): void {
  const found = state.members.find(({ member }) => member === name);
  if (found !== undefined) depart(state, found);
}

/** Its runs may go on: only its next report, its deadline or a user frees its slots. */
function onNotRunning(
  state: PoolState,
  { member, life, number }: Extract<PoolEvent, { type: 'notRunning' }>,
  now: number,
): void {
  state.members = state.members.map((one) =>
    // It has reported since: then its workflow was started again.
    one.member === member && one.life === life && one.number === number
      ? { ...one, goneAt: one.goneAt ?? now }
      : one,
  );
}

const hasEnded = ({ goneAt, runsEndMs }: Member, now: number): boolean =>
  goneAt !== undefined && runsEndMs !== undefined && now >= goneAt + runsEndMs;

function tell(state: PoolState, names: ReadonlySet<string>, now: number): readonly MemberGrant[] {
  const granted = state.members.filter(({ member }) => names.has(member));
  state.members = state.members.map((one) => (granted.includes(one) ? { ...one, toldAt: now } : one));
  return granted.map((one) => {
    const { member, number, life } = one;
    return { member, number, grant: { life, ...newestGrant(one), size: state.size } };
  });
}

const isWhole = (value: unknown, least: number, most: number): boolean =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= most;

/** Reports come from signals, perhaps of a newer worker, or of a stranger without any content. */
function isUsable(given: unknown): given is MemberUsage {
  if (typeof given !== 'object' || given === null) return false;
  const {
    member,
    used,
    wanted,
    weight,
    urgency,
    limit,
    epoch,
    life,
    number,
    runsEndMs = 0,
  } = given as Partial<MemberUsage>;
  return (
    typeof member === 'string' &&
    [used, wanted, limit].every((slots) => isWhole(slots, 0, 100 * CONCURRENCY_MAX)) &&
    [epoch, life, number, runsEndMs].every((value) => isWhole(value, 0, Number.MAX_SAFE_INTEGER)) &&
    isWhole(weight, 1, POOL_WEIGHT_MAX) &&
    isWhole(urgency, 0, POOL_URGENCY_MAX)
  );
}

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
