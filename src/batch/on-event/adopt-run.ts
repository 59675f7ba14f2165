// Assigns a run to an attempt, however its POST ended.

import { cancelRun, reportOthers } from '../accounting/duplicates.ts';
import { enterAccepted, enterAdopted, enterPost, type AdoptedBy } from '../accounting/request-ledger.ts';
import { baseOf, type Base, type Sending, type Unconfirmed, type Waiting } from '../state/row-state.ts';
import { put } from '../state/put-row.ts';
import type { State } from '../state/state.ts';

/** The row's phase becomes running. */
export function startRun(state: State, row: Base, runId: string): void {
  const { place, attempt } = row;
  put(state, { ...baseOf(row), phase: 'running', runId, since: state.now });
  if (state.cancelling === 'running') cancelRun(state, { place, attempt, runId });
}

/** Enters the attempt's run in the ledger, and reports other runs that were seen for the attempt as duplicates. */
export function enterRun(
  state: State,
  row: Waiting | Sending | Unconfirmed,
  runId: string,
  by: AdoptedBy,
): void {
  if (row.phase === 'unconfirmed') state.ledger = enterAdopted(state.ledger, by);
  else if (row.phase === 'waiting') state.ledger = enterAccepted(state.ledger, row.turnedAway);
  else {
    state.ledger = enterPost(state.ledger, 'accepted');
    reportOthers(state, row, runId);
  }
}
