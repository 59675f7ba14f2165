// Runs that carry the token of an attempt: one that waits for news of its run takes it, one in flight remembers it.

import type { AttemptRun } from '../attempt.ts';
import { belongingOf, keepEvidence, reportDuplicate } from '../accounting/duplicates.ts';
import type { AdoptedBy } from '../accounting/request-ledger.ts';
import { amend, type State } from '../state.ts';
import { enterRun, startRun } from './adopt-run.ts';

export function onRunsSeen(state: State, runs: readonly AttemptRun[], by: AdoptedBy): void {
  for (const run of runs) noteRun(state, run, by);
}

/** R26: no run of ours is forgotten, in whatever phase its row is. */
export function noteRun(state: State, run: AttemptRun, by: AdoptedBy): void {
  const belonging = belongingOf(state, run);
  if (belonging === 'duplicate') return reportDuplicate(state, run, false);
  if (belonging === 'later') return keepEvidence(state, run);
  if (belonging === 'open') takeRun(state, run, by);
}

function takeRun(state: State, run: AttemptRun, by: AdoptedBy): void {
  const row = state.rows.get(run.row);
  if (row?.phase === 'waiting' || row?.phase === 'unconfirmed') {
    enterRun(state, row, run.runId, by);
    startRun(state, row, run.runId);
  } else if (row?.phase === 'sending' && !row.seen?.includes(run.runId)) {
    // Its answer decides which of the runs that were seen is its own.
    amend(state, { ...row, seen: [...(row.seen ?? []), run.runId] });
  }
}
