// Handles what becomes known of runs: seen, ended, overdue or cancelled. A run belongs to an attempt however its POST
// ended. The end of a run frees its slot, and its row gets its outcome or another attempt.

import { clipped, clippedAtWord } from '../../options/text/clipped.ts';
import {
  belongingOf,
  cancelRun,
  keepEvidence,
  reportDuplicate,
  reportOthers,
} from '../accounting/duplicates.ts';
import { type AdoptedBy, enterAccepted, enterAdopted, enterPost } from '../accounting/request-ledger.ts';
import { type AttemptRun, countFailure } from '../outcome.ts';
import { SHORT_REASON_BYTES } from '../bounds.ts';
import type { OverdueRun, RunCompletion, RunEnds } from '../events.ts';
import { learn, nextAttempt } from '../ladder.ts';
import { noteRunEnd } from '../sending-limits/adaptive-cap.ts';
import { closeCircuitFor } from '../sending-limits/circuit-breaker.ts';
import { retryAt } from '../run-retries.ts';
import { laneWith } from '../state/lanes.ts';
import { amend, put, endRow } from '../state/put-row.ts';
import {
  type Base,
  baseOf,
  pastWith,
  type RowState,
  type SendingRow,
  type UnconfirmedRow,
  UNTIL_VERDICT,
  type WaitingRow,
} from '../state/row-state.ts';
import { runningRow, type State } from '../state/state.ts';
import { countEnd } from '../trial.ts';

/** Moves the row to phase running. */
export function startRun(state: State, row: Base, runId: string): void {
  const { place, attempt } = row;
  const { absences: _, ...base } = baseOf(row);
  put(state, { ...base, phase: 'running', runId, since: state.now });
  if (state.cancelling === 'running') cancelRun(state, { place, attempt, runId });
}

/** Enters the attempt's run in the ledger, and reports other runs that were seen for the attempt as duplicates. */
export function enterRun(
  state: State,
  row: WaitingRow | SendingRow | UnconfirmedRow,
  runId: string,
  by: AdoptedBy,
): void {
  if (row.phase === 'unconfirmed') {
    state.ledger = enterAdopted(state.ledger, by);
    closeCircuitFor(state, row);
  } else if (row.phase === 'waiting') state.ledger = enterAccepted(state.ledger, row.turnedAway);
  else {
    state.ledger = enterPost(state.ledger, 'accepted');
    reportOthers(state, row, runId);
  }
}

/**
 * Handles runs that carry the token of an attempt: an unconfirmed or waiting row adopts its run, a row whose POST is in
 * flight remembers it.
 */
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

/** Get Run has confirmed each completion. A completion that arrives before its group's result replaces that result. */
export function onRunsCompleted(state: State, { completions, by }: RunEnds): void {
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
  const waits = !climbs && countRun(state, end);
  const again = state.cancelling === undefined ? againAt(state, { ...row, tries }, end, climbs) : undefined;
  if (again === undefined) return endRow(state, { ...row, tries }, end);
  state.failures = countFailure(state.failures, end);
  const reason = end.reason && clippedAtWord(end.reason, SHORT_REASON_BYTES);
  const past = pastWith(row, end.outcome, { runId: end.runId, reason });
  const dueAt = waits ? UNTIL_VERDICT : again;
  put(state, { ...nextAttempt(state, { ...row, tries, past }), phase: 'waiting', dueAt });
}

/** Whether another attempt of the row waits until the batch has shown that its rows can succeed. */
function countRun(state: State, { outcome, reason }: Pick<RunCompletion, 'outcome' | 'reason'>): boolean {
  return (outcome === 'failed' || outcome === 'timed-out') && countEnd(state, { outcome, reason });
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

/** R8: cancels a run that takes too long; its row is retried only after the run has ended. */
export function onRunsOverdue(state: State, runs: readonly OverdueRun[]): void {
  for (const { place: number, attempt, runId, reason } of runs) {
    const row = runningRow(state, number);
    if (row?.attempt !== attempt || row.runId !== runId || row.overdue !== undefined) continue;
    amend(state, { ...row, overdue: { at: state.now, reason: clipped(reason, SHORT_REASON_BYTES) } });
    cancelRun(state, { place: number, attempt, runId });
  }
}

/** The service has received the cancel of these runs; its time to end them starts now. */
export function onRunsCancelled(state: State, id: number): void {
  for (const { place: number, runId } of state.cancelsInFlight.get(id) ?? []) {
    const row = runningRow(state, number);
    if (row?.runId === runId && row.overdue !== undefined)
      amend(state, { ...row, overdue: { ...row.overdue, at: state.now } });
    state.cancels.delete(runId);
  }
  state.cancelsInFlight.delete(id);
}
