// Pauses the batch when a limit of the user is reached: too many rows without success, or the deadline. Runs that were sent
// finish. After a resume, only rows that end later count, and a deadline that has passed is gone.

import { GUARD_ROWS_LEAST } from '../bounds.ts';
import { failAfterText } from '../on-event/change-limits.ts';
import type { FailAfter } from '../params.ts';
import { pause } from '../pausing/pauses.ts';
import { hasMoreToSend, type State } from '../state/state.ts';
import { dueIf, NEVER, type Decision } from './decision.ts';

export const pauseForFailures: Decision = {
  name: 'pause-for-failures',
  dueAt: (state) => dueIf(hasFailedTooOften(state) && hasMoreToSend(state) && !state.pauses.has('failures')),
  act: (state) => {
    const { bad, all } = newEndings(state);
    const limit = failAfterText(state.params.failAfter as FailAfter);
    pause(state, 'failures', `${bad} of ${all} rows ended without success; --fail-after is ${limit}`);
    return [];
  },
};

export const pauseForDeadline: Decision = {
  name: 'pause-for-deadline',
  dueAt: (state) => {
    const { deadlineAt } = state.params;
    if (deadlineAt === undefined || state.pauses.has('deadline') || !hasMoreToSend(state)) return NEVER;
    return state.now + Math.max(0, deadlineAt - state.wallAt);
  },
  act: (state) => {
    const at = new Date(state.params.deadlineAt as number).toISOString();
    pause(state, 'deadline', `the deadline ${at} has passed`);
    return [];
  },
};

/** The rows that have ended since the batch started or a user resumed it. */
const newEndings = ({ endings, resumedAt }: State): State['endings'] => ({
  all: endings.all - resumedAt.all,
  bad: endings.bad - resumedAt.bad,
});

const hasFailedTooOften = (state: State): boolean =>
  state.params.failAfter !== undefined && isReached(state, state.params.failAfter);

/** Whether so many rows have ended without success. */
export function isReached(state: State, failAfter: FailAfter): boolean {
  const { rows } = state.params;
  const { all, bad } = newEndings(state);
  if ('rows' in failAfter) return bad >= failAfter.rows;
  // A share of very few rows says nothing.
  return all >= Math.min(GUARD_ROWS_LEAST, rows) && bad >= failAfter.share * all;
}
