// Acknowledges a pause or a lower limit when it is in force: the workers of all groups that were in flight have answered, or the
// leases of those that Temporal gave up have ended. Groups in flight are asked to start no further POST, so that this takes a
// second and not as long as the slowest POST may wait.

import { acknowledge } from '../on-event/user-command.ts';
import type { Group, State } from '../state/state.ts';
import { dueIf, NEVER, type Decision } from './decision.ts';

export const stopGroups: Decision = {
  name: 'stop-groups',
  dueAt: (state) => dueIf(state.pendingCommands.length > 0 && toStop(state).length > 0),
  act: (state) => {
    const groups = toStop(state);
    for (const [number, group] of groups) state.groups.set(number, { ...group, isStopped: true });
    return [{ type: 'stopGroups', groups: groups.map(([number]) => number) }];
  },
};

/** The groups that a command waits for, and that were not stopped yet. */
function toStop({ groups, pendingCommands }: State): readonly (readonly [number, Group])[] {
  const upTo = Math.max(...pendingCommands.map((command) => command.upTo));
  return [...groups].filter(([number, group]) => number <= upTo && !group.isStopped);
}

export const acknowledgeCommands: Decision = {
  name: 'acknowledge-commands',
  dueAt: (state) =>
    state.pendingCommands.length > 0 && inForce(state).length > 0 ? (state.leasedUntil ?? 0) : NEVER,
  act: (state) => {
    const acknowledged = inForce(state);
    state.pendingCommands = state.pendingCommands.filter((command) => !acknowledged.includes(command));
    for (const { id, upTo: _, kind: __, ...answer } of acknowledged) acknowledge(state, id, answer);
    return [];
  },
};

function inForce({ groups, pendingCommands }: State): State['pendingCommands'] {
  const oldest = Math.min(...groups.keys());
  return pendingCommands.filter(({ upTo }) => oldest > upTo);
}
