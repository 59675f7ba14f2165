// The trial of a batch: until one of its rows has succeeded, nothing shows that any of them can, so no row is bought twice.
//
//   open    new rows are sent; retries and refused rows wait
//     │ ten attempts have ended alike        │ nothing else is in flight or to be sent
//     ▼                                      ▼
//   held    nothing is sent                all alike: pause `alike`, otherwise: over
//     │ no run in flight has succeeded
//     ▼
//   pause `alike` ── resume ──▶ open again; what the user has seen so far holds nothing back any more
//
//   over    from the first success on, also out of the pause: retries follow the policy
//
// Batches before version 6 have no trial. decisions/judge-trial.ts decides when it is over.

import { addEnd, type FailedEnd, likenessOf, mostAlike, NO_ENDS } from './alike-ends.ts';
import { unpause } from './pausing/pauses.ts';
import { backoffMs } from './retry-policy.ts';
import { seededNumber } from './seeded-number.ts';
import { type Allowance, FREE, NOT_NOW } from './sending-limits/allowance.ts';
import { endRow, put } from './state/put-row.ts';
import { UNTIL_VERDICT, type Waiting } from './state/row-state.ts';
import { NEW_TRIAL, type State, waitingRows } from './state/state.ts';

/** So many attempts that end alike hold a batch in which no row has succeeded. */
export const ALIKE_MOST = 10;

/** How many likenesses the resumes of users leave out. */
const OVERRULED_MOST = 60;

/** Counts an attempt that has ended without success; returns whether its row waits for the verdict. */
export function countEnd(state: State, end: FailedEnd): boolean {
  const { trial } = state;
  if (trial === undefined || trial.overruled.includes(likenessOf(end))) return false;
  const ends = addEnd(trial.ends, end);
  const isHeld = trial.heldAt === undefined && mostAlike(ends) >= ALIKE_MOST;
  state.trial = { ...trial, ends, ...(isHeld ? { heldAt: state.now } : {}) };
  return true;
}

/** Sends nothing once ten attempts have ended alike. */
export const trialLimit = ({ trial }: Pick<State, 'trial'>): Allowance =>
  trial?.heldAt === undefined ? FREE : NOT_NOW;

/** The rows whose next attempt waits for the verdict. */
export const heldRows = (state: State): readonly Waiting[] =>
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

/** A user has resumed the batch: all rows that wait for the verdict are sent again. */
export function overruleTrial(state: State): void {
  const { trial } = state;
  if (trial === undefined || !state.pauses.has('alike')) return;
  const seen = trial.ends.counts.map(({ likeness }) => likeness);
  state.trial = { ends: NO_ENDS, overruled: [...trial.overruled, ...seen].slice(-OVERRULED_MOST) };
  for (const { refusal, ...row } of heldRows(state))
    put(state, { ...row, dueAt: refusal === undefined ? retryTime(state, row) : state.now });
}

const retryTime = ({ params, now }: State, { place, tries }: Waiting): number =>
  now + backoffMs(tries, seededNumber(params.seed, place, tries));

/**
 * Rows are sent again, or were appended: unless a row of the batch has succeeded, they are tried like the first ones. Retries that an
 * earlier trial has let through wait with them.
 */
export function startTrial(state: State): void {
  const { version, params, tally, trial } = state;
  const hasSucceeded = tally.outcomes.succeeded > (params.reused ?? 0);
  if (version < 6 || hasSucceeded || trial !== undefined) return;
  state.trial = NEW_TRIAL;
  for (const row of waitingRows(state)) if (row.tries > 0) put(state, { ...row, dueAt: UNTIL_VERDICT });
}
