// Requests the run lists while attempts are unconfirmed, one reading at a time for all of them. on-event/list-read.ts
// defines what a reading proves.

import { knownRuns } from '../accounting/request-ledger.ts';
import { readBack } from '../clock.ts';
import { unconfirmedRows } from '../state/state.ts';
import { NEVER, type Decision } from './decision.ts';

export const reconcile: Decision = {
  name: 'reconcile',
  dueAt: ({ phases, reconcile: { requestedAt, nextAt } }) =>
    phases.unconfirmed === 0 || requestedAt !== undefined ? NEVER : nextAt,
  act: (state) => {
    const rows = unconfirmedRows(state);
    state.reconcile.requestedAt = state.now;
    state.reconcile.controlAt = state.control?.at;
    const control = state.control === undefined ? {} : { control: state.control.runId };
    const attempts = rows.map(({ place, attempt }) => ({ place, attempt }));
    const back = readBack(state, {
      at: Math.min(...rows.map(({ askedAt }) => askedAt)),
      wallAt: Math.min(...rows.map(({ askedWallAt }) => askedWallAt)),
    });
    // The list may not contain the latest runs yet.
    const least = Math.max(0, knownRuns(state.ledger) - state.peakConcurrency);
    return [{ type: 'reconcile', attempts, back, least, ...control }];
  },
};
