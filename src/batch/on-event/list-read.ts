// Resolves unconfirmed attempts from a reading of the run lists (R10, R11). A run in a list is adopted immediately.
// Absence needs two complete lists, a gap apart. Each must be requested late enough: 5 min after the deadline if it shows
// the control run (a run of ours accepted later), otherwise 30 min. If no list can prove anything, the attempt
// keeps its slot until a webhook names its run or the user's rule abandons it.

import { clipped } from '../../options/text/clipped.ts';
import { rememberAbandoned } from '../accounting/duplicates.ts';
import { enterResolved } from '../accounting/request-ledger.ts';
import { CLOCK_SLACK_MS, LEASE_MS, MAX_RESUBMITS, SHORT_REASON_BYTES, UNCONFIRMED_MS } from '../bounds.ts';
import type { ListReading } from '../events.ts';
import { nextAttempt } from '../ladder.ts';
import { countAbsences } from '../sending-limits/circuit-breaker.ts';
import { amend, put, endRow } from '../state/put-row.ts';
import { pastWith, type UnconfirmedRow } from '../state/row-state.ts';
import { type State, unconfirmedRows } from '../state/state.ts';
import { onRunsSeen } from './run-events.ts';

/** List readings start at the service's own interval and slow down to this. */
export const MAX_RECONCILE_MS = 60_000;
/**
 * The same in intervals of the service: a service that is read often may also be away often, and then no proof waits
 * for a minute.
 */
const MAX_GAPS = 10;

type TimedReading = ListReading & { readonly requestedAt: number; readonly controlAt: number | undefined };

export function onListRead(state: State, reading: ListReading): void {
  const { requestedAt, controlAt } = state.reconcile;
  if (requestedAt === undefined) return;
  state.reconcile.requestedAt = undefined;
  state.reconcile.readAt = requestedAt;
  if (reading.answer !== 'incomplete') state.reconcile.answeredAt = requestedAt;
  state.reconcile.readings += 1;
  onRunsSeen(state, reading.found, 'list');
  if (state.version >= 5) noteServiceTimes(state, { ...reading, requestedAt, controlAt });
  const absent = unconfirmedRows(state).filter((row) =>
    resolveMissing(state, row, { ...reading, requestedAt, controlAt }),
  );
  if (state.version >= 6) countAbsences(state, absent);
  state.reconcile.nextAt = Math.max(requestedAt + readingGapMs(state), state.now + 1);
}

/** The time between two readings; the first ones follow each other quickly. */
export function readingGapMs({ params, reconcile, version }: State): number {
  const { listGapMs } = params.timing;
  const mostMs = version < 9 ? MAX_RECONCILE_MS : Math.min(MAX_RECONCILE_MS, MAX_GAPS * listGapMs);
  const gap = listGapMs * 2 ** Math.min(16, Math.max(0, reconcile.readings - 4));
  // The service's own interval may be longer than our maximum.
  return Math.min(gap, Math.max(listGapMs, mostMs));
}

/**
 * Records the service's time of readings requested since the attempt became unconfirmed; a jump of its clock is not
 * time that passed.
 */
function noteServiceTimes(state: State, { requestedAt, serviceNowMs }: TimedReading): void {
  if (serviceNowMs === undefined) return;
  const { at, serviceAt } = state.serviceRead ?? { at: requestedAt, serviceAt: serviceNowMs };
  const passedMs = serviceNowMs - serviceAt;
  const leaptMs = passedMs - (requestedAt - at);
  const jumpMs = leaptMs > CLOCK_SLACK_MS ? leaptMs : Math.min(0, passedMs);
  for (const row of unconfirmedRows(state)) {
    const isSince = requestedAt + LEASE_MS + CLOCK_SLACK_MS >= row.sentBy;
    const before = row.serviceAt ?? serviceNowMs - jumpMs;
    if (isSince) amend(state, { ...row, serviceAt: before + jumpMs });
  }
  state.serviceRead = { at: requestedAt, serviceAt: serviceNowMs };
}

/** Returns whether the reading proves the attempt absent. */
function resolveMissing(state: State, row: UnconfirmedRow, reading: TimedReading): boolean {
  const { requestedAt, hasControl, controlAt } = reading;
  const isControlled = hasControl && controlAt !== undefined && controlAt > row.sentBy;
  const from = provesFrom(state, row, isControlled);
  if (reading.answer !== 'complete') applyUserRule(state, row, reading);
  else if (requestedAt < from) return false;
  else if (!hasPassed(from - row.sentBy, row, reading)) {
    if (isStuck(state, row)) applyUserRule(state, row, reading);
  } else if (row.missedAt === undefined) amend(state, { ...row, missedAt: requestedAt });
  else if (requestedAt >= row.missedAt + state.params.timing.listGapMs) {
    proveAbsent(state, row);
    return true;
  }
  return false;
}

/** Whether the service's clock confirms that the time passed: Temporal's clock may leap within each wait. */
const hasPassed = (ms: number, { serviceAt }: UnconfirmedRow, { serviceNowMs }: TimedReading): boolean =>
  serviceAt === undefined || serviceNowMs === undefined || serviceNowMs >= serviceAt + ms + LEASE_MS;

/** The list does not exist, could not be read or comes from a wrong time: the user's rule decides after its wait (R12). */
function applyUserRule(state: State, row: UnconfirmedRow, { answer, requestedAt }: TimedReading): void {
  const { rule, afterMs } = state.params.unconfirmed;
  // A list that fails now may be readable later; a list that does not exist never will be.
  const waitMs = answer === 'none' || rule === 'resubmit' ? afterMs : Math.max(afterMs, UNCONFIRMED_MS);
  // A cancelled batch waits neither for a day nor for the user's decision.
  if (state.cancelling !== undefined && isStuck(state, row)) abandonAttempt(state, row, 'unknown');
  else if (rule !== 'ask' && requestedAt >= row.sentBy + waitMs) abandonAttempt(state, row, rule);
}

/** The time from which a list without the run counts as proof of absence. */
export function provesFrom(
  { params: { timing } }: State,
  row: UnconfirmedRow,
  isControlled: boolean,
): number {
  const { postDeadlineMs, settleMs, settleWithoutControlMs } = timing;
  return row.sentBy + postDeadlineMs + (isControlled ? settleMs : settleWithoutControlMs);
}

/** The attempt started no run: the row is sent again under a new token, and the retry policy does not count this. */
function proveAbsent(state: State, row: UnconfirmedRow): void {
  state.ledger = enterResolved(state.ledger, 'absent');
  rememberAbandoned(state, row);
  if (state.cancelling !== undefined) return endRow(state, row, { outcome: 'cancelled', reason: row.reason });
  const absences = state.version < 6 ? {} : { absences: (row.absences ?? 0) + 1 };
  sendUnderNewToken(state, row, { was: 'absent', reason: row.reason, ...absences });
}

/** `absences`: how many times in succession the row was proved absent. */
type Before = { readonly was: 'absent' | 'unknown'; readonly reason: string; readonly absences?: number };

function sendUnderNewToken(state: State, row: UnconfirmedRow, { was, reason, ...absences }: Before): void {
  // Only the last absent attempt is kept: a service that loses every request must not fill the state.
  const earlier = row.past.filter(({ outcome }) => was === 'unknown' || outcome !== 'absent');
  const past = pastWith({ ...row, past: earlier }, was, { reason: clipped(reason, SHORT_REASON_BYTES) });
  put(state, { ...nextAttempt(state, { ...row, past }), ...absences, phase: 'waiting', dueAt: state.now });
}

/** Abandons an attempt that nothing proves, reports it, and remembers it in case its run appears later (R12). */
function abandonAttempt(state: State, row: UnconfirmedRow, rule: 'unknown' | 'fail' | 'resubmit'): void {
  rememberAbandoned(state, row);
  const reason = `may have run unseen: ${row.reason}`;
  const resubmits = row.past.filter(({ outcome }) => outcome === 'unknown').length;
  if (rule === 'resubmit' && state.cancelling === undefined && resubmits < MAX_RESUBMITS) {
    state.ledger = enterResolved(state.ledger, 'resubmitted');
    return sendUnderNewToken(state, row, { was: 'unknown', reason });
  }
  state.ledger = enterResolved(state.ledger, rule === 'fail' ? 'failed' : 'unknown');
  endRow(state, row, { outcome: rule === 'fail' ? 'failed' : 'unknown', reason });
}

/** Applies the user's decision to all attempts that no list resolved in time. */
export function decideUnconfirmed(state: State, rule: 'unknown' | 'fail' | 'resubmit'): void {
  for (const row of unconfirmedRows(state)) if (isStuck(state, row)) abandonAttempt(state, row, rule);
}

/** Decides when an unconfirmed attempt is stuck: a proof of absence would have been complete by then. */
export const isStuck = (state: State, row: UnconfirmedRow): boolean => state.now >= stuckFrom(state, row);

export function stuckFrom(state: State, { sentBy, serviceAt }: UnconfirmedRow): number {
  const { timing } = state.params;
  const proofMs = timing.postDeadlineMs + timing.settleWithoutControlMs;
  const provedMs = proofMs + 2 * timing.listGapMs;
  const usual = sentBy + (state.version < 8 ? provedMs : Math.max(provedMs, RESTART_MS));
  if (state.version < 8 || serviceAt === undefined || state.serviceRead === undefined) return usual;
  // The service was away at first, so its clock shows the time of the proof later.
  const leftMs = proofMs + LEASE_MS - (state.serviceRead.serviceAt - serviceAt);
  const late = state.serviceRead.at + Math.max(0, leftMs) + 2 * timing.listGapMs;
  return Math.min(Math.max(usual, late), usual + MAX_PROOF_LATE_MS);
}

/** How long a service that is being restarted may be away. */
export const RESTART_MS = 30_000;

/** A service whose clock is this late for a proof will never show it. */
const MAX_PROOF_LATE_MS = 3_600_000;
