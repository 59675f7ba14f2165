// Handles what is known of runs: seen, ended, overdue or cancelled.
// Assigns a run to an attempt, however its POST ended.

import { clipped, clippedAtWord } from '../../options/clipped.ts';
import {
  belongingOf,
  cancelRun,
  keepEvidence,
  reportDuplicate,
  reportOthers,
  rememberAbandoned,
} from '../accounting/duplicates.ts';
import {
  type AdoptedBy,
  enterAccepted,
  enterAdopted,
  enterPost,
  enterResolved,
} from '../accounting/request-ledger.ts';
import { type AttemptRun, countFailure } from '../outcome.ts';
import { SHORT_REASON_BYTES, RESUBMITS_MOST, UNCONFIRMED_MS } from '../bounds.ts';
import type { OverdueRun, RunCompletion, ListReading } from '../events.ts';
import { learn, nextAttempt } from '../ladder.ts';
import { noteRunEnd } from '../sending-limits/adaptive-cap.ts';
import { retryAt } from '../retry-policy.ts';
import { laneWith } from '../state/lanes.ts';
import { amend, put, endRow } from '../state/put-row.ts';
import {
  type Base,
  baseOf,
  pastWith,
  type RowState,
  type Sending,
  type Unconfirmed,
  type Waiting,
} from '../state/row-state.ts';
import { runningRow, type State, unconfirmedRows } from '../state/state.ts';

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

// Handles the end of a run: its slot becomes free, and its row gets its outcome or another attempt.

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

// Resolves unconfirmed attempts from a reading of the run lists (R10, R11). A run in a list is adopted immediately.
// Absence needs two complete lists, a gap apart. Each must be requested late enough: 5 min after the deadline if it shows
// the control run (a run of ours accepted later), otherwise 30 min. If no list can prove anything, the attempt
// keeps its slot until a webhook names its run or the user's rule abandons it.
/** List readings start at the service's own interval and slow down to this. */
export const RECONCILE_MAX_MS = 60_000;

type Reading = ListReading & { readonly requestedAt: number; readonly controlAt: number | undefined };

export function onListRead(state: State, reading: ListReading): void {
  const { requestedAt, controlAt } = state.reconcile;
  if (requestedAt === undefined) return;
  state.reconcile.requestedAt = undefined;
  state.reconcile.readings += 1;
  onRunsSeen(state, reading.found, 'list');
  for (const row of unconfirmedRows(state))
    resolveMissing(state, row, { ...reading, requestedAt, controlAt });
  const { listGapMs } = state.params.timing;
  const gap = listGapMs * 2 ** Math.min(16, Math.max(0, state.reconcile.readings - 4));
  // The service's own interval may be longer than our maximum.
  const slowest = Math.max(listGapMs, RECONCILE_MAX_MS);
  state.reconcile.nextAt = Math.max(requestedAt + Math.min(gap, slowest), state.now + 1);
}

function resolveMissing(state: State, row: Unconfirmed, reading: Reading): void {
  const { requestedAt, hasControl, controlAt } = reading;
  if (reading.answer !== 'complete') return applyUserRule(state, row, reading);
  const isControlled = hasControl && controlAt !== undefined && controlAt > row.sentBy;
  if (requestedAt < provesFrom(state, row, isControlled)) return;
  if (row.missedAt === undefined) amend(state, { ...row, missedAt: requestedAt });
  else if (requestedAt >= row.missedAt + state.params.timing.listGapMs) proveAbsent(state, row);
}

/** The list does not exist or could not be read: the user's rule decides after its wait (R12). */
function applyUserRule(state: State, row: Unconfirmed, { answer, requestedAt }: Reading): void {
  const { rule, afterMs } = state.params.unconfirmed;
  // A list that fails now may be readable later; a list that does not exist never will be.
  const waitMs = answer === 'none' || rule === 'resubmit' ? afterMs : Math.max(afterMs, UNCONFIRMED_MS);
  // A cancelled batch waits neither for a day nor for the user's decision.
  if (state.cancelling !== undefined && isStuck(state, row)) abandonAttempt(state, row, 'unknown');
  else if (rule !== 'ask' && requestedAt >= row.sentBy + waitMs) abandonAttempt(state, row, rule);
}

/** The time from which a list without the run counts as proof of absence. */
export function provesFrom({ params: { timing } }: State, row: Unconfirmed, isControlled: boolean): number {
  const { postDeadlineMs, settleMs, settleWithoutControlMs } = timing;
  return row.sentBy + postDeadlineMs + (isControlled ? settleMs : settleWithoutControlMs);
}

/** The attempt started no run: the row is sent again under a new token, and the retry policy does not count this. */
function proveAbsent(state: State, row: Unconfirmed): void {
  state.ledger = enterResolved(state.ledger, 'absent');
  rememberAbandoned(state, row);
  if (state.cancelling === undefined) return sendUnderNewToken(state, row, 'absent', row.reason);
  endRow(state, row, { outcome: 'cancelled', reason: row.reason });
}

function sendUnderNewToken(state: State, row: Unconfirmed, was: 'absent' | 'unknown', reason: string): void {
  // Only the last absent attempt is kept: a service that loses every request must not fill the state.
  const earlier = row.past.filter(({ outcome }) => was === 'unknown' || outcome !== 'absent');
  const past = pastWith({ ...row, past: earlier }, was, { reason: clipped(reason, SHORT_REASON_BYTES) });
  put(state, { ...nextAttempt(state, { ...row, past }), phase: 'waiting', dueAt: state.now });
}

/** Abandons an attempt that nothing proves, reports it, and remembers it in case its run appears later (R12). */
function abandonAttempt(state: State, row: Unconfirmed, rule: 'unknown' | 'fail' | 'resubmit'): void {
  rememberAbandoned(state, row);
  const reason = `may have run unseen: ${row.reason}`;
  const resubmits = row.past.filter(({ outcome }) => outcome === 'unknown').length;
  if (rule === 'resubmit' && state.cancelling === undefined && resubmits < RESUBMITS_MOST) {
    state.ledger = enterResolved(state.ledger, 'resubmitted');
    return sendUnderNewToken(state, row, 'unknown', reason);
  }
  state.ledger = enterResolved(state.ledger, rule === 'fail' ? 'failed' : 'unknown');
  endRow(state, row, { outcome: rule === 'fail' ? 'failed' : 'unknown', reason });
}

/** Applies the user's decision to all attempts that no list resolved in time. */
export function decideUnconfirmed(state: State, rule: 'unknown' | 'fail' | 'resubmit'): void {
  for (const row of unconfirmedRows(state)) if (isStuck(state, row)) abandonAttempt(state, row, rule);
}

/** Decides when an unconfirmed attempt is stuck: a proof of absence would have been complete by then. */
export const isStuck = (state: State, row: Unconfirmed): boolean => state.now >= stuckFrom(state, row);

export function stuckFrom({ params: { timing } }: State, { sentBy }: Unconfirmed): number {
  return sentBy + timing.postDeadlineMs + timing.settleWithoutControlMs + 2 * timing.listGapMs;
}
