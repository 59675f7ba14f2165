// Handles runs that carry the token of an attempt: an unconfirmed or waiting row adopts its run, a row whose POST is in
// flight remembers it.

import type { AttemptRun } from '../attempt.ts';
import { belongingOf, keepEvidence, reportDuplicate } from '../accounting/duplicates.ts';
import type { AdoptedBy } from '../accounting/request-ledger.ts';
import { amend } from '../state/put-row.ts';
import type { State } from '../state/state.ts';
import { enterRun, startRun } from './adopt-run.ts';

export function onRunsSeen(state: State, runs: readonly AttemptRun[], by: AdoptedBy): void {
  for (const run of runs) noteRun(state, run, by);
}

/** R26: every run of ours is recorded, whatever the phase of its row. */
export function noteRun(state: State, run: AttemptRun, by: AdoptedBy): void {
  const belonging = belongingOf(state, run);
  if (belonging === 'duplicate') return reportDuplicate(state, run, false);
  if (belonging === 'later') return keepEvidence(state, run);
  if (belonging === 'open') takeRun(state, run, by);
}

function takeRun(state: State, run: AttemptRun, by: AdoptedBy): void {
  const row = state.rows.get(run.place);
  if (row?.phase === 'waiting' || row?.phase === 'unconfirmed') {
    enterRun(state, row, run.runId, by);
    startRun(state, row, run.runId);
  } else if (row?.phase === 'sending' && !row.seen?.includes(run.runId)) {
    // The group's result decides which of the seen runs belongs to the row.
    amend(state, { ...row, seen: [...(row.seen ?? []), run.runId] });
  }
}
