// Decides which rows are sent next: rows that wait for another POST first, then the next rows of the sheet.

import type { AttemptRef } from '../attempt.ts';
import { GROUP_ATTEMPTS } from '../bounds.ts';
import { allowance } from '../limits/limits.ts';
import { spendRate } from '../limits/rate-limit.ts';
import { spendStarts } from '../limits/starts-per-minute.ts';
import { probed } from '../pauses.ts';
import { put } from '../put-row.ts';
import { hasUnsent, type State } from '../state.ts';
import { isFull } from '../state-size.ts';
import type { Decision } from './decision.ts';

/** Sends one group of the attempts that are due, as many as the limits allow. */
export const send: Decision = {
  name: 'send',
  dueAt: (state) => Math.max(nextAttemptAt(state), allowance(state).at),
  act: (state) => {
    const attempts = takeAttempts(state, Math.min(GROUP_ATTEMPTS, allowance(state).most));
    spendRate(state, attempts.length);
    spendStarts(state, attempts.length);
    probed(state, 'blocked', 'unreachable');
    const group = state.nextGroup;
    state.nextGroup += 1;
    state.groups.set(group, { attempts, at: state.now, wallAt: state.wallAt });
    return [{ type: 'send', group, attempts }];
  },
};

function nextAttemptAt(state: State): number {
  if (hasUnsent(state) && !isFull(state)) return 0;
  return state.waiting[0]?.dueAt ?? Number.POSITIVE_INFINITY;
}

function takeAttempts(state: State, most: number): readonly AttemptRef[] {
  const taken: AttemptRef[] = [];
  while (taken.length < most) {
    const attempt = takeWaiting(state) ?? takeUnsent(state);
    if (attempt === undefined) break;
    taken.push(attempt);
  }
  return taken;
}

function takeWaiting(state: State): AttemptRef | undefined {
  const [next] = state.waiting;
  if (next === undefined || next.dueAt > state.now) return undefined;
  const { dueAt: _, ...row } = next;
  put(state, { ...row, phase: 'sending' });
  return { row: row.row, attempt: row.attempt };
}

function takeUnsent(state: State): AttemptRef | undefined {
  if (!hasUnsent(state) || isFull(state)) return undefined;
  const row = state.nextRow;
  state.nextRow += 1;
  put(state, { phase: 'sending', row, attempt: 1, tries: 0, past: [] });
  return { row, attempt: 1 };
}
