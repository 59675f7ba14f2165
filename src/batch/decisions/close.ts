// Closes the batch when all rows are collected and no command that must finish first is in flight.

import { tallyOutcome } from '../accounting/tally.ts';
import { neverSentIn } from '../state/lanes.ts';
import { isIdle, type State } from '../state/state.ts';
import { dueIf, type Decision } from './decision.ts';
import { closeCommand, wantsPass } from './store-writes.ts';

export const close: Decision = {
  name: 'close',
  dueAt: (state) => dueIf(!state.closing && isIdle(state) && !hasWork(state) && !wantsPass(state)),
  act: (state) => {
    state.closing = true;
    // Rows that were to be sent again keep the outcome that they have.
    state.again = 0;
    const neverSent = state.lanes.reduce((sum, lane) => sum + neverSentIn(lane), 0);
    for (const { segments } of state.lanes) segments.length = 0;
    if (neverSent > 0) state.tally = tallyOutcome(state.tally, 'cancelled', neverSent);
    return [closeCommand(state)];
  },
};

const hasWork = ({ rows, parts, groups, cancels, keeping, loggingNow, isLoadingPass }: State): boolean =>
  rows.size + parts.size + groups.size + cancels.size + keeping + loggingNow + Number(isLoadingPass) > 0;
