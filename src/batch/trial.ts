// The trial of a batch: until one of its rows has succeeded, nothing shows that any of them can, so no row is bought twice.
//
//   open    new rows are sent; retries and refused rows wait
//     │ ten attempts have ended alike        │ nothing else is in flight or to be sent
//     ▼                                      ▼
//   held    nothing is sent                all alike: pause `alike`, otherwise: over
//     │ no run in flight has succeeded
//     ▼
//   pause `alike` ── resume ──▶ open again; each resume lets twice as many attempts end alike as the one before
//
//   over    from the first success on, also out of the pause: retries follow the policy
//
// Batches before version 6 have no trial. In version 6, a reason that a user has overruled by resuming holds nothing back.
// decisions/judge-trial.ts decides when a trial is over.

import { addEnd, type FailedEnd, likenessOf, mostAlike, NO_ENDS } from './alike-ends.ts';
import { unpause } from './pausing/pauses.ts';
import { backoffMs } from './run-retries.ts';
import { seededNumber } from './seeded-number.ts';
import { type Allowance, FREE, NOT_NOW } from './sending-limits/allowance.ts';
import { endRow, put } from './state/put-row.ts';
import { UNTIL_VERDICT, type WaitingRow } from './state/row-state.ts';
import { NEW_TRIAL, type State, type Trial, waitingRows } from './state/state.ts';

/** A batch without a success is held after this many attempts ended alike. */
export const MAX_ALIKE = 10;

/**
 * A resumed batch is held later: a user who has corrected nothing pays for twice as many attempts as before, not for
 * all rows.
 */
const alikeMost = ({ resumes = 0 }: Pick<Trial, 'resumes'>): number => MAX_ALIKE * 2 ** resumes;

/** How many likenesses the resumes of users exempt in version 6. */
const MAX_OVERRULED = 60;

/** Counts an attempt that has ended without success; returns whether its row waits for the verdict. */
export function countEnd(state: State, end: FailedEnd): boolean {
  const { trial } = state;
  if (trial === undefined || trial.overruled.includes(likenessOf(end))) return false;
  const ends = addEnd(trial.ends, end);
  const isHeld = trial.heldAt === undefined && mostAlike(ends) >= alikeMost(trial);
  state.trial = { ...trial, ends, ...(isHeld ? { heldAt: state.now } : {}) };
  // The user has seen that rows are refused, so a row that is refused again has ended.
  return end.outcome !== 'refused' || trial.resumes === undefined;
}

/** Sends nothing once ten attempts have ended alike. */
export const trialLimit = ({ trial }: Pick<State, 'trial'>): Allowance =>
  trial?.heldAt === undefined ? FREE : NOT_NOW;

/** The rows whose next attempt waits for the verdict. */
export const heldRows = (state: State): readonly WaitingRow[] =>
  waitingRows(state).filter(({ dueAt }) => dueAt === UNTIL_VERDICT);

/** The trial is over: retries follow the policy, and refused rows end. */
export function endTrial(state: State): void {
  if (state.trial === undefined) return;
  state.trial = undefined;
  unpause(state, 'alike');
  for (const { refusal, ...row } of heldRows(state)) {
    if (refusal === undefined) put(state, { ...row, dueAt: retryTime(state, row) });
    else endRow(state, row, { outcome: 'refused', reason: refusal });
  }
}

/** Sends all rows again that wait for the verdict, because a user has resumed the batch. */
export function resumeTrial(state: State): void {
  const { trial, version } = state;
  if (trial === undefined || !state.pauses.has('alike')) return;
  const { ends, overruled, resumes = 0 } = trial;
  const seen = ends.counts.map(({ likeness }) => likeness);
  state.trial =
    version < 7
      ? { ends: NO_ENDS, overruled: [...overruled, ...seen].slice(-MAX_OVERRULED) }
      : { ends: NO_ENDS, overruled, resumes: resumes + 1 };
  for (const { refusal, ...row } of heldRows(state))
    put(state, { ...row, dueAt: refusal === undefined ? retryTime(state, row) : state.now });
}

const retryTime = ({ params, now }: State, { place, tries }: WaitingRow): number =>
  now + backoffMs(tries, seededNumber(params.seed, place, tries));

/**
 * Rows are sent again, or were appended: unless a row of the batch has succeeded, they are tried like the first ones.
 * Retries that an earlier trial let through wait with them.
 */
export function startTrial(state: State): void {
  const { version, params, tally, trial } = state;
  const hasSucceeded = tally.outcomes.succeeded > (params.reused ?? 0);
  if (version < 6 || hasSucceeded || trial !== undefined) return;
  state.trial = NEW_TRIAL;
  for (const row of waitingRows(state)) if (row.tries > 0) put(state, { ...row, dueAt: UNTIL_VERDICT });
}
