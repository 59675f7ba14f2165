// Decides whether the trial of a batch is over; trial.ts has its states.

import { alikeText, mostAlike } from '../alike-ends.ts';
import { pause } from '../pausing/pauses.ts';
import { firstAllowed, mayReserve } from '../sending-limits/budget.ts';
import { type Account, accountsOf, nextAccount } from '../state/lanes.ts';
import { mayTakePlace } from '../state/put-row.ts';
import { UNTIL_VERDICT } from '../state/row-state.ts';
import { hasMoreToSend, type State } from '../state/state.ts';
import { endTrial } from '../trial.ts';
import { type Decision, NEVER } from './decision.ts';

/** Fewer attempts that end alike say nothing about the others. */
const MIN_ALIKE = 3;

/** How long a batch that sends nothing waits for the runs in flight before it pauses. */
export const MAX_VERDICT_MS = 600_000;

export const judgeTrial: Decision = {
  dueAt: (state) => {
    const { trial, pauses, cancelling } = state;
    if (trial === undefined || pauses.has('alike') || cancelling !== undefined) return NEVER;
    if (trial.heldAt !== undefined && hasMoreToSend(state))
      return maySucceed(state) ? trial.heldAt + MAX_VERDICT_MS : 0;
    return !isWaiting(state) || maySucceed(state) || maySendOthers(state) ? NEVER : 0;
  },
  act: (state) => {
    const { ends, heldAt } = state.trial as NonNullable<State['trial']>;
    const isOfAll = ends.all >= MIN_ALIKE && mostAlike(ends) === ends.all;
    if (heldAt !== undefined || isOfAll) pause(state, 'alike', alikeText(ends));
    else endTrial(state);
  },
};

/** Whether a row waits for the verdict. */
const isWaiting = ({ lanes }: State): boolean =>
  lanes.flatMap(accountsOf).some(({ waiting }) => waiting.at(-1)?.dueAt === UNTIL_VERDICT);

/**
 * Whether a run is in flight, or has succeeded but its files are not stored yet. Unconfirmed attempts do not count:
 * they may take a day.
 */
function maySucceed({ phases, ended, deferred, parts }: State): boolean {
  if (phases.sending + phases.running + deferred.length + parts.size > 0) return true;
  return ended.some(({ outcome }) => outcome === 'succeeded');
}

/** Whether any row that does not wait for the verdict could still be sent within the budget and the state. */
const maySendOthers = (state: State): boolean =>
  state.lanes.some(
    (lane) =>
      (mayTakePlace(state, lane) && mayReserve(state, nextAccount(lane))) ||
      accountsOf(lane).some((account) => nextDueOn(state, account) < UNTIL_VERDICT),
  );

/** Before version 8, a row on a larger GPU that the budget had no room for held the trial open for ever. */
const nextDueOn = (state: State, account: Account): number =>
  (state.version < 8 ? account.waiting[0] : firstAllowed(state, account))?.dueAt ?? UNTIL_VERDICT;
