// Asks for the run lists while attempts are unconfirmed. One reading at a time serves all of them; on-event/list-read.ts
// says what it proves.

import { knownRuns } from '../accounting/request-ledger.ts';
import { readBack } from '../clock.ts';
import { unconfirmedRows } from '../state.ts';
import { NEVER, type Decision } from './decision.ts';

export const reconcile: Decision = {
  name: 'reconcile',
  dueAt: ({ phases, reconcile: { askedAt, nextAt } }) =>
    phases.unconfirmed === 0 || askedAt !== undefined ? NEVER : nextAt,
  act: (state) => {
    const rows = unconfirmedRows(state);
    state.reconcile.askedAt = state.now;
    state.reconcile.controlAt = state.control?.at;
    const control = state.control === undefined ? {} : { control: state.control.runId };
    const attempts = rows.map(({ row, attempt }) => ({ row, attempt }));
    const back = readBack(state, {
      at: Math.min(...rows.map(({ askedAt }) => askedAt)),
      wallAt: Math.min(...rows.map(({ askedWallAt }) => askedWallAt)),
    });
    // The latest runs may still be missing in a list.
    const least = Math.max(0, knownRuns(state.ledger) - state.params.concurrency);
    return [{ type: 'reconcile', attempts, back, least, ...control }];
  },
};
