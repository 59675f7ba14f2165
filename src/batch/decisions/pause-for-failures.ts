import { rowsOrShare, type RowsOrShare } from '../../options/kinds.ts';
import { pause } from '../pausing/pauses.ts';
import { hasMoreToSend, type State } from '../state/state.ts';
import { type Decision, dueIf } from './decision.ts';

/** A share of failed rows counts once this many rows have ended. */
export const MIN_GUARD_ROWS = 20;

/**
 * Pauses the batch when too many rows have ended without success. Runs that were sent finish. After a resume, only rows
 * that end later count.
 */
export const pauseForFailures: Decision = {
  dueAt: (state) => dueIf(hasFailedTooOften(state) && hasMoreToSend(state) && !state.pauses.has('failures')),
  act: (state) => {
    const { bad, all: ended } = newEndings(state);
    const limit = rowsOrShare.textOf(state.params.failAfter as RowsOrShare);
    pause(state, 'failures', `${bad} of ${ended} rows ended without success; --fail-after is ${limit}`);
  },
};

/** The rows that have ended since the batch started or a user resumed it. */
const newEndings = ({ endings, resumedAt }: State): State['endings'] => ({
  all: endings.all - resumedAt.all,
  bad: endings.bad - resumedAt.bad,
});

const hasFailedTooOften = (state: State): boolean =>
  state.params.failAfter !== undefined && isReached(state, state.params.failAfter);

/** Whether enough rows have ended without success. */
export function isReached(state: State, failAfter: RowsOrShare): boolean {
  const { rows } = state.params;
  const { all: ended, bad } = newEndings(state);
  if ('rows' in failAfter) return bad >= failAfter.rows;
  // A share of very few rows says nothing.
  return ended >= Math.min(MIN_GUARD_ROWS, rows) && bad >= failAfter.share * ended;
}
