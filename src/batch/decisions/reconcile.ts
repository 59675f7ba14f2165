// Requests the run lists while attempts are unconfirmed, one reading at a time for all of them. on-event/list-read.ts
// defines what a reading proves.

import { knownRuns } from '../accounting/request-ledger.ts';
import { readBack } from '../clock.ts';
import { provesFrom } from '../on-event/list-read.ts';
import { unconfirmedRows } from '../state/state.ts';
import { NEVER, type Decision } from './decision.ts';

/**
 * How much further back a reading goes that may prove absence: the service's clock may have been back by this much
 * when it created the run, and no answer need have shown it.
 */
export const PROOF_BACK_MS = 3_600_000;

export const reconcile: Decision = {
  dueAt: ({ phases, reconcile: { requestedAt, nextAt } }) =>
    phases.unconfirmed === 0 || requestedAt !== undefined ? NEVER : nextAt,
  act: (state) => {
    const rows = unconfirmedRows(state);
    state.reconcile.requestedAt = state.now;
    state.reconcile.controlAt = state.control?.at;
    const control = state.control === undefined ? {} : { control: state.control.runId };
    const attempts = rows.map(({ place, attempt }) => ({ place, attempt }));
    const { agoMs, ...clocks } = readBack(state, {
      at: Math.min(...rows.map(({ askedAt }) => askedAt)),
      wallAt: Math.min(...rows.map(({ askedWallAt }) => askedWallAt)),
    });
    const mayProve = rows.some((row) => state.now >= provesFrom(state, row, true));
    const back = { agoMs: agoMs + (mayProve ? PROOF_BACK_MS : 0), ...clocks };
    // The list may not contain the latest runs yet.
    const least = Math.max(0, knownRuns(state.ledger) - state.peakConcurrency);
    return [{ type: 'reconcile', attempts, back, least, ...control }];
  },
};
