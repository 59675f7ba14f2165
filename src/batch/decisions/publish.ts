// Decides when to write progress into the memo: after a change, at most every half second, preferably in a step that
// happens anyway; immediately if the status changes or a command is acknowledged, because users wait for that.

import type { Event } from '../events.ts';
import type { Command } from '../commands.ts';
import { statusOf } from '../shown/progress.ts';
import type { State, Group } from '../state/state.ts';
import { type Decision, NEVER, dueIf } from './decision.ts';
import { runTimeShareMs, PUBLISH_SHARES } from './run-time-share.ts';
import { acknowledge } from '../on-event/user-command.ts';
import { POOL_SILENT_MS } from '../bounds.ts';
import { leave, usageOf, wantsMoreAt } from '../pool/membership.ts';
import type { Membership } from '../pool/messages.ts';

/** The minimum time between two publications of progress, because each adds to the history. */
export const PUBLISH_MS = 500;

/** Events and commands that do not change the progress. */
const SILENT: ReadonlySet<string> = new Set([
  'woke',
  'stopSending',
  'pollEnded',
  'evidenceKept',
  'poll',
  'keepEvidence',
  'keepLog',
  'logKept',
  'stopGroups',
  'reportUsage',
  'usageReported',
  'notify',
]);

export function noteChange(state: State, happened: readonly (Event | Command)[]): void {
  state.published.isStale ||= happened.some(({ type }) => !SILENT.has(type));
}

export const publish = {
  dueAt: (state) => publishAt(state, PUBLISH_SHARES.alone),
  alongAt: (state) => publishAt(state, PUBLISH_SHARES.along),
  act: (state) => {
    state.published = { at: state.now, isStale: false, summary: summaryOf(state) };
    return [{ type: 'publish' }];
  },
} satisfies Decision;

function publishAt(state: State, share: number): number {
  const { at, isStale, summary } = state.published;
  if (!isStale) return NEVER;
  return summary === summaryOf(state) ? at + runTimeShareMs(state, PUBLISH_MS, share) : 0;
}

const summaryOf = (state: State): string => `${statusOf(state)} after ${state.acknowledgements.at(-1)?.id}`;

// Acknowledges a pause or a lower limit once it is in force: the workers of all groups that were in flight have
// answered, or the leases of groups that Temporal gave up have ended. Groups in flight are asked to start no further
// POST, so this takes a second rather than as long as the slowest POST may wait.
export const stopGroups: Decision = {
  dueAt: (state) => dueIf(state.pendingCommands.length > 0 && toStop(state).length > 0),
  act: (state) => {
    const groups = toStop(state);
    for (const [number, group] of groups) state.groups.set(number, { ...group, isStopped: true });
    return [{ type: 'stopGroups', groups: groups.map(([number]) => number) }];
  },
};

/** The groups that a command waits for and that were not stopped yet. */
function toStop({ groups, pendingCommands }: State): readonly (readonly [number, Group])[] {
  const upTo = Math.max(...pendingCommands.map((command) => command.upTo));
  return [...groups].filter(([number, group]) => number <= upTo && !group.isStopped);
}

export const acknowledgeCommands: Decision = {
  dueAt: (state) =>
    state.pendingCommands.length > 0 && inForce(state).length > 0 ? (state.leasedUntil ?? 0) : NEVER,
  act: (state) => {
    const acknowledged = inForce(state);
    state.pendingCommands = state.pendingCommands.filter((command) => !acknowledged.includes(command));
    for (const { id, upTo: _, kind: __, ...answer } of acknowledged) acknowledge(state, id, answer);
  },
};

function inForce({ groups, pendingCommands }: State): State['pendingCommands'] {
  const oldest = Math.min(...groups.keys());
  return pendingCommands.filter(({ upTo }) => oldest > upTo);
}

/** The minimum time between two reports of a batch to its pool. */
export const POOL_REPORT_MS = 2_000;

/**
 * Reports to the pool of the batch after each change, and now and then without one; one report at a time, because later
 * reports replace earlier ones. A batch that leaves its pool, or has ended, reports immediately.
 */
export const reportUsage: Decision = {
  dueAt: (state) => {
    if (state.leaves !== undefined) return 0;
    const { membership } = state;
    if (membership === undefined || membership.isReporting) return NEVER;
    const { reported, failure } = membership;
    if (failure !== undefined) return failure.againAt;
    if (reported === undefined) return 0;
    // The report tells a pool that was terminated and created again which slots the batch holds.
    if (reported.text !== textOf(state, membership)) return reported.at + POOL_REPORT_MS;
    return Math.min(reported.at + POOL_SILENT_MS, Math.max(reported.at + POOL_REPORT_MS, wantsMoreAt(state)));
  },
  act: (state) => {
    if (state.leaves !== undefined) return saidLeaves(state);
    const membership = state.membership as Membership;
    const usage = { ...usageOf(state, membership), number: membership.number + 1 };
    state.membership = {
      ...membership,
      number: usage.number,
      isReporting: true,
      reported: { at: state.now, text: textOf(state, membership) },
    };
    return [{ type: 'reportUsage', pool: state.params.pool as string, usage }];
  },
};

const textOf = (state: State, membership: Membership): string => JSON.stringify(usageOf(state, membership));

function saidLeaves(state: State): readonly Command[] {
  const { leaves = [] } = state;
  state.leaves = undefined;
  return leaves.map((departure) => ({ type: 'reportUsage', ...departure }));
}

/** Leaves the pool of a batch that has ended. */
export function leaveAtEnd(state: State): readonly Command[] {
  leave(state, state.params.pool);
  state.membershipLeft ??= state.membership;
  state.membership = undefined;
  return saidLeaves(state);
}
