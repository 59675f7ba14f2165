// Who is sent next, and how many at once: rows that are due again first, then the next rows of the sheet.

import { BREAKER_AFTER, GROUP_ATTEMPTS, GROUPS_IN_FLIGHT } from './limits.ts';
import type { AttemptName, Command } from './messages.ts';
import { allowedByPace, spend } from './pacing.ts';
import { probeAt, probed } from './pausing.ts';
import { freeSlots } from './slots.ts';
import { hasUnsent, isFull, put, type State } from './state.ts';

/** Groups for all that is due and has a slot. */
export function sendDue(state: State): readonly Command[] {
  const attempts = takeDue(state, Math.min(freeSlots(state), roomInGroups(state), allowedNow(state)));
  spend(state, attempts.length);
  if (attempts.length > 0) probed(state);
  const commands: Command[] = [];
  for (let from = 0; from < attempts.length; from += GROUP_ATTEMPTS) {
    commands.push(sendGroup(state, attempts.slice(from, from + GROUP_ATTEMPTS)));
  }
  return commands;
}

/** How many attempts may be sent at this moment, as far as the service's health goes. */
function allowedNow(state: State): number {
  if (state.draining || state.now < state.holdUntil) return 0;
  if (state.paused !== undefined) return state.now >= probeAt(state) ? 1 : 0;
  // The breaker: one at a time until one is taken.
  if (state.bounces >= BREAKER_AFTER) return state.groups.size === 0 ? 1 : 0;
  return allowedByPace(state);
}

function roomInGroups(state: State): number {
  return (GROUPS_IN_FLIGHT - state.groups.size) * GROUP_ATTEMPTS;
}

function takeDue(state: State, most: number): readonly AttemptName[] {
  const taken: AttemptName[] = [];
  while (taken.length < most) {
    const attempt = takeWaiting(state) ?? takeUnsent(state);
    if (attempt === undefined) break;
    taken.push(attempt);
  }
  return taken;
}

function takeWaiting(state: State): AttemptName | undefined {
  const [next] = state.waiting;
  if (next === undefined || next.dueAt > state.now) return undefined;
  const { row, attempt, tries, past } = next;
  put(state, { phase: 'sending', row, attempt, tries, past });
  return { row, attempt };
}

function takeUnsent(state: State): AttemptName | undefined {
  if (!hasUnsent(state) || isFull(state)) return undefined;
  const row = state.cursor;
  state.cursor += 1;
  put(state, { phase: 'sending', row, attempt: 1, tries: 0, past: [] });
  return { row, attempt: 1 };
}

function sendGroup(state: State, attempts: readonly AttemptName[]): Command {
  const group = state.nextGroup;
  state.nextGroup += 1;
  state.groups.set(group, { attempts, at: state.now });
  return { type: 'send', group, attempts };
}
