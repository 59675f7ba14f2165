// Handles the end of a run: its slot becomes free, and its row gets its outcome or another attempt.

import { belongingOf, keepEvidence, reportDuplicate } from '../accounting/duplicates.ts';
import { SHORT_REASON_BYTES } from '../bounds.ts';
import { clippedAtWord } from '../../options/clipped.ts';
import type { RunCompletion } from '../events.ts';
import { countFailure } from '../failure-counts.ts';
import { learn, nextAttempt } from '../ladder.ts';
import { laneWith } from '../state/lanes.ts';
import { noteRunEnd } from '../limits/adaptive-cap.ts';
import { retryAt } from '../retry-policy.ts';
import { pastWith, type Base, type RowState } from '../state/row-state.ts';
import { put } from '../state/put-row.ts';
import type { State } from '../state/state.ts';
import { enterRun } from './adopt-run.ts';
import { endRow } from './end-row.ts';

/** Get Run has confirmed each completion. A completion that arrives before its group's result replaces that result. */
export function onRunsCompleted(
  state: State,
  completions: readonly RunCompletion[],
  by: 'webhook' | 'poll',
): void {
  for (const completion of completions) {
    const belonging = belongingOf(state, completion);
    if (belonging === 'duplicate') reportDuplicate(state, completion, true);
    // A poll reads only runs of rows, so it is no evidence of unknown runs.
    else if (belonging === 'later' && by === 'webhook') keepEvidence(state, completion);
    else complete(state, completion, by);
  }
}

function complete(state: State, completion: RunCompletion, by: 'webhook' | 'poll'): void {
  const row = state.rows.get(completion.place);
  if (row === undefined || row.attempt !== completion.attempt || row.phase === 'ended') return;
  state.completedBy = by;
  noteRunEnd(state, laneWith(state, row.place), { since: acceptedAt(state, row), times: completion.times });
  if (row.phase === 'running') noteRunTime(state, row.since);
  else enterRun(state, row, completion.runId, 'webhook');
  completeAttempt(state, row, asTimeout(row, completion), completion.times === undefined);
}

/** A run that ends before the response to its POST was accepted just now. */
function acceptedAt({ now }: State, row: RowState): number {
  if (row.phase === 'running') return row.since;
  return row.phase === 'unconfirmed' ? row.askedAt : now;
}

const WEIGHT = 0.1;

function noteRunTime(state: State, since: number): void {
  const ms = state.now - since;
  state.usualRunMs = state.usualRunMs === 0 ? ms : state.usualRunMs * (1 - WEIGHT) + ms * WEIGHT;
}

/** A run that we cancelled because it took too long counts as timed out, so that its row may be retried. */
function asTimeout(row: RowState, completion: RunCompletion): RunCompletion {
  if (completion.outcome !== 'cancelled' || row.phase !== 'running' || row.overdue === undefined)
    return completion;
  return { ...completion, outcome: 'timed-out', reason: `${row.overdue.reason}, and was cancelled` };
}

/** Ends an attempt: the retry policy gives the row another attempt, or the row gets its outcome. */
export function completeAttempt(
  state: State,
  row: RowState,
  end: Pick<RunCompletion, 'runId' | 'outcome' | 'reason' | 'failure'>,
  neverRan = false,
): void {
  // A run that we cancelled before a machine took it says nothing about its GPU.
  const climbs = learn(state, row, neverRan && isOverdue(row) ? { outcome: 'cancelled' } : end);
  const tries = climbs ? row.tries : row.tries + 1;
  const again = state.cancelling === undefined ? againAt(state, { ...row, tries }, end, climbs) : undefined;
  if (again === undefined) return endRow(state, { ...row, tries }, end);
  state.failures = countFailure(state.failures, end);
  const reason = end.reason && clippedAtWord(end.reason, SHORT_REASON_BYTES);
  const past = pastWith(row, end.outcome, { runId: end.runId, reason });
  put(state, { ...nextAttempt(state, { ...row, tries, past }), phase: 'waiting', dueAt: again });
}

/** A row that climbs needs no patience: the next attempt runs on another GPU. */
function againAt(
  { params, now }: State,
  { tries, place }: Base,
  { outcome, failure }: Pick<RunCompletion, 'outcome' | 'failure'>,
  climbs: boolean,
): number | undefined {
  return climbs ? now : retryAt({ outcome, failure, tries, place }, params, now);
}

const isOverdue = (row: RowState): boolean => row.phase === 'running' && row.overdue !== undefined;
