// Applies what a pool has received, and returns the members to which a grant must be sent. Pure, like the step of a
// batch.

import { MAX_POOL_MEMBERS, POOL_SILENT_MS, COMMANDS_KNOWN } from '../bounds.ts';
import {
  MAX_POOL_SIZE,
  MAX_POOL_URGENCY,
  MAX_POOL_WEIGHT,
  MAX_CONCURRENCY,
} from '../../options/bounds-and-defaults.ts';
import type { Grant, MemberUsage } from './messages.ts';
import {
  afterReport,
  chargeOf,
  limitOf,
  newestGrant,
  type PoolMember,
  type PoolState,
} from './pool-state.ts';
import { rebalance } from './rebalance.ts';
import { definedOnly } from '../../options/defined-only.ts';

/** How many departed members, and how many batches without room, a pool remembers. */
export const MAX_POOL_DEPARTED = 1_000;

export type PoolEvent =
  /**
   * A workflow run of the pool begins. Grants of the previous run to these members may be lost; if absent, to any
   * member.
   */
  | { readonly type: 'started'; readonly undelivered?: readonly string[] }
  | { readonly type: 'usage'; readonly usage: MemberUsage }
  | { readonly type: 'resize'; readonly commandId: string; readonly size: number }
  /** A user says that a member whose workflow no longer runs has no more runs. */
  | { readonly type: 'release'; readonly commandId: string; readonly member: string }
  /**
   * A grant could not be delivered, because the member's workflow does not run; `number`: the member's last report at
   * that time.
   */
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
  for (const poolMember of state.members) if (hasEnded(poolMember, now)) depart(state, poolMember);
  const changed = rebalance(state);
  const isSilent = ({ heardAt, toldAt, goneAt }: PoolMember): boolean =>
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
      if (!isFirst(state, event.commandId) || !isWhole(event.size, 0, MAX_POOL_SIZE)) return [];
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

const isNewer = (report: Report, latest: Report | undefined): boolean =>
  latest === undefined ||
  report.life > latest.life ||
  (report.life === latest.life && report.number > latest.number);

function onUsage(state: PoolState, usage: MemberUsage, now: number): void {
  if (!isUsable(usage)) return;
  const isOwn = ({ member }: { readonly member: string }): boolean => member === usage.member;
  const before = state.members.find(isOwn);
  if (!isNewer(usage, before ?? state.departed.find(isOwn))) return;
  forgetTurnedAway(state, usage.member, now);
  if (usage.left) return depart(state, usage);
  if (before === undefined && state.members.length >= MAX_POOL_MEMBERS)
    return turnAway(state, usage.member, now);
  state.departed = state.departed.filter((leaver) => !isOwn(leaver));
  // A pool whose state was lost continues after every grant that a member still has.
  state.epoch = Math.max(state.epoch, usage.epoch);
  const { epoch, limit } = usage;
  const member: PoolMember = {
    ...usage,
    grants: afterReport(before?.grants ?? [], { epoch, limit }),
    heardAt: now,
    toldAt: before?.toldAt ?? now,
    ...(before?.life === usage.life && !before.isNew ? {} : { isNew: true }),
  };
  state.members = before
    ? state.members.map((poolMember) => (poolMember === before ? member : poolMember))
    : [...state.members, member];
}

/** Turns a batch away from a full pool. The batch asks again each minute, and joins as soon as a member has left. */
function turnAway(state: PoolState, member: string, at: number): void {
  state.turnedAway = [...(state.turnedAway ?? []), { member, at }].slice(-MAX_POOL_DEPARTED);
}

function forgetTurnedAway(state: PoolState, member: string, now: number): void {
  if (state.turnedAway === undefined) return;
  const stillWaiting = state.turnedAway.filter(
    (applicant) => applicant.member !== member && applicant.at > now - 2 * POOL_SILENT_MS,
  );
  if (stillWaiting.length > 0) state.turnedAway = stillWaiting;
  else delete state.turnedAway;
}

function depart(
  state: PoolState,
  { member, life, number }: Pick<PoolMember, 'member' | 'life' | 'number'>,
): void {
  state.members = state.members.filter((poolMember) => poolMember.member !== member);
  const departed = state.departed.filter((leaver) => leaver.member !== member);
  state.departed = [...departed, { member, life, number }].slice(-MAX_POOL_DEPARTED);
}

function onRelease(state: PoolState, name: string): void {
  const released = state.members.find(({ member }) => member === name);
  if (released !== undefined) depart(state, released);
}

/** Marks a member as gone. Its runs may continue: only its next report, its deadline or a user frees its slots. */
function onNotRunning(
  state: PoolState,
  { member, life, number }: Extract<PoolEvent, { type: 'notRunning' }>,
  now: number,
): void {
  state.members = state.members.map((poolMember) =>
    // A member that has reported since then was started again.
    poolMember.member === member && poolMember.life === life && poolMember.number === number
      ? { ...poolMember, goneAt: poolMember.goneAt ?? now }
      : poolMember,
  );
}

const hasEnded = ({ goneAt, runsEndMs }: PoolMember, now: number): boolean =>
  goneAt !== undefined && runsEndMs !== undefined && now >= goneAt + runsEndMs;

function tell(state: PoolState, names: ReadonlySet<string>, now: number): readonly MemberGrant[] {
  const granted = state.members.filter(({ member }) => names.has(member));
  state.members = state.members.map((poolMember) =>
    granted.includes(poolMember) ? { ...poolMember, toldAt: now } : poolMember,
  );
  return granted.map((poolMember) => {
    const { member, number, life } = poolMember;
    return { member, number, grant: { life, ...newestGrant(poolMember), size: state.size } };
  });
}

const isWhole = (value: unknown, least: number, most: number): boolean =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= most;

/** Checks a report: signals may come from a newer worker, or from a stranger without any content. */
function isUsable(report: unknown): report is MemberUsage {
  if (typeof report !== 'object' || report === null) return false;
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
  } = report as Partial<MemberUsage>;
  return (
    typeof member === 'string' &&
    [used, wanted, limit].every((slots) => isWhole(slots, 0, 100 * MAX_CONCURRENCY)) &&
    [epoch, life, number, runsEndMs].every((value) => isWhole(value, 0, Number.MAX_SAFE_INTEGER)) &&
    isWhole(weight, 1, MAX_POOL_WEIGHT) &&
    isWhole(urgency, 0, MAX_POOL_URGENCY)
  );
}

const COMMANDS_SHOWN = 20;

function shownMember(poolMember: PoolMember) {
  const { member, weight, urgency, used, wanted, goneAt, runsEndMs } = poolMember;
  return definedOnly({
    /** The id of its workflow. */
    member,
    weight,
    urgency,
    /** How many slots the member may use, uses and could use. */
    granted: limitOf(poolMember),
    used,
    wanted,
    /** How many slots the pool counts as taken by the member. */
    charged: chargeOf(poolMember),
    /** When its workflow ended without giving its slots back, and when they are free at the latest. */
    goneAt,
    freeAt: goneAt === undefined || runsEndMs === undefined ? undefined : goneAt + runsEndMs,
  });
}
export type ShownMember = ReturnType<typeof shownMember>;

export function shownPool({ name, size, members, turnedAway, knownCommands }: PoolState) {
  const shown: readonly ShownMember[] = members.map(shownMember);
  const sum = (of: (batch: ShownMember) => number): number =>
    shown.reduce((total, batch) => total + of(batch), 0);
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
