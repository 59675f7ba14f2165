// Handles the end of a group: each row moves to the phase that its POST's class (R5) implies, and attempts that could
// not be sent delay the batch. Only rows that still wait for this result change (R15).

import { attemptKey } from '../outcome.ts';
import { CLOCK_SLACK_MS, LEASE_MS, REASON_BYTES } from '../bounds.ts';
import { clipped } from '../../options/text/clipped.ts';
import { noteServiceTime } from '../clock.ts';
import { enterAccepted, enterPost } from '../accounting/request-ledger.ts';
import { reportOthers } from '../accounting/duplicates.ts';
import type { Event, NotAccepted, PostResult } from '../events.ts';
import { laneWith } from '../state/lanes.ts';
import { noteThrottled } from '../sending-limits/adaptive-cap.ts';
import { adaptRate } from '../sending-limits/rate-limit.ts';
import { closeCircuit, countFailure } from '../sending-limits/circuit-breaker.ts';
import { believable, HOLD_BASE_MS } from '../sending-limits/send-backoff.ts';
import { baseOf, type SendingRow, type TurnedAway, UNTIL_VERDICT } from '../state/row-state.ts';
import { put, endRow, reasonBytes } from '../state/put-row.ts';
import { type Group, type State } from '../state/state.ts';
import { pause, unpause } from '../pausing/pauses.ts';
import { countEnd } from '../trial.ts';
import { pauseIfElsewhere } from './held-elsewhere.ts';
import { enterRun, noteRun, startRun } from './run-events.ts';

type GroupEnded = Extract<Event, { type: 'groupEnded' }>;

export function onGroupEnded(state: State, event: GroupEnded): void {
  const group = state.groups.get(event.group);
  if (group === undefined) return;
  state.groups.delete(event.group);
  // The worker may still be alive: after a leap of Temporal's clock, a group is given up within its lease.
  if (event.rest === 'unconfirmed' && event.reason !== undefined) state.leasedUntil = leaseEnd(state);
  if (event.serviceNowMs !== undefined) noteServiceTime(state, event.serviceNowMs);
  const results = new Map(event.results.map((result) => [attemptKey(result), result]));
  const hasAccepted = event.results.some((result) => result.result === 'accepted' && result.isKnown !== true);
  const failed: NotAccepted[] = [];
  const unclear: NotAccepted[] = [];
  for (const attempt of group.attempts) {
    const row = state.rows.get(attempt.place);
    const reported = results.get(attemptKey(attempt));
    if (row?.phase !== 'sending' || row.attempt !== attempt.attempt) {
      // The row's run ended before this result arrived; the result may name a second run.
      if (reported?.result === 'accepted' && !reported.isKnown) noteRun(state, reported, 'webhook');
      continue;
    }
    const result = reported ?? withoutResult(row, event);
    // Attempts that the batch itself stopped say nothing about the service.
    const isOurs = group.isStopped && result.result === 'not-sent';
    if (!isOurs && (result.result === 'not-sent' || result.result === 'throttled')) failed.push(result);
    // A worker that was lost says nothing about the service either.
    const isAnswer = state.version >= 6 && reported !== undefined && row.seen === undefined;
    if (isAnswer && result.result === 'unconfirmed') unclear.push(result);
    applyResult(state, row, result, { group, hasAccepted });
  }
  if (pauseIfElsewhere(state, event)) return;
  const throttled = failed.filter(({ result }) => result === 'throttled');
  adaptRate(state, throttled.length > 0);
  for (const lane of new Set(throttled.map(({ place }) => laneWith(state, place))))
    noteThrottled(state, lane, group.at);
  if (failed.length + unclear.length > 0 && !hasAccepted) countFailure(state, failed, unclear, group);
}

const withoutResult = (
  { place, attempt }: SendingRow,
  { rest: unreported, reason }: GroupEnded,
): NotAccepted => ({
  place,
  attempt,
  result: unreported,
  ...(reason === undefined ? {} : { reason }),
});

/**
 * `hasAccepted`: the service accepted other attempts of the group, so a failed attempt waits alone and does not delay
 * others.
 */
type InGroup = { readonly group: Group; readonly hasAccepted: boolean };

function applyResult(
  state: State,
  row: SendingRow,
  result: PostResult,
  { group, hasAccepted }: InGroup,
): void {
  if (result.result === 'accepted' && result.isKnown) return startRun(state, row, result.runId);
  if (result.result === 'accepted') return accept(state, row, result.runId, group);
  const [first] = row.seen ?? [];
  // A run with this attempt's token exists, whatever the response says.
  if (first !== undefined) return adopt(state, row, first, result);
  if (result.result === 'left-out')
    return endRow(state, row, { outcome: 'cancelled', reason: result.reason });
  state.ledger = enterPost(state.ledger, result.result);
  const reason = clipped(result.reason ?? '', REASON_BYTES);
  const waitMs = hasAccepted ? (result.retryAfterMs ?? HOLD_BASE_MS) : 0;
  switch (result.result) {
    case 'rejected':
      unpause(state, 'blocked', 'unreachable');
      return refuse(state, row, reason);
    case 'blocked':
      pause(state, 'blocked', reason);
      return sendAgain(state, row, 0, 'blocked');
    case 'throttled':
      return sendAgain(state, row, waitMs, 'throttled');
    case 'not-sent':
      return sendAgain(state, row, waitMs, row.turnedAway);
    case 'unconfirmed':
      return markUnconfirmed(state, row, group, clipped(reason, reasonBytes(state)));
  }
}

/**
 * A refusal that concerns every row is no fault of this row, which waits until the batch has shown that its rows can
 * succeed.
 */
function refuse(state: State, row: SendingRow, refusal: string): void {
  const waits = state.cancelling === undefined && countEnd(state, { outcome: 'refused', reason: refusal });
  if (!waits) return endRow(state, row, { outcome: 'refused', reason: refusal });
  put(state, {
    ...baseOf(row),
    phase: 'waiting',
    dueAt: UNTIL_VERDICT,
    turnedAway: 'rejected',
    refusal: clipped(refusal, reasonBytes(state)),
  });
}

/** The run belongs to this POST, or to an earlier POST of the attempt that the service appeared to turn away. */
function adopt(state: State, row: SendingRow, runId: string, { result }: PostResult): void {
  if (result === 'not-sent' || result === 'left-out') {
    state.ledger = enterAccepted(state.ledger, row.turnedAway);
    reportOthers(state, row, runId);
  } else enterRun(state, row, runId, 'webhook');
  startRun(state, row, runId);
}

/** Makes the newest accepted run the control for later lists. */
function accept(state: State, row: SendingRow, runId: string, { at }: Group): void {
  state.ledger = enterPost(state.ledger, 'accepted');
  reportOthers(state, row, runId);
  startRun(state, row, runId);
  closeCircuit(state);
  state.control = { runId, at };
}

/** Sends the same attempt again, which counts neither as an attempt nor as a retry. */
function sendAgain(state: State, row: SendingRow, waitMs: number, turnedAway: TurnedAway | undefined): void {
  if (state.cancelling !== undefined)
    return endRow(state, row, { outcome: 'cancelled', reason: 'cancelled before it was sent' });
  put(state, {
    ...baseOf(row),
    phase: 'waiting',
    dueAt: state.now + believable(waitMs),
    ...(turnedAway === undefined ? {} : { turnedAway }),
  });
}

/** A POST may start until the group's lease ends, and the system clock may have changed a little. */
const leaseEnd = ({ now }: State): number => now + LEASE_MS + CLOCK_SLACK_MS;

/** The attempt may have started a run: only a webhook or the run lists can show it. */
function markUnconfirmed(state: State, row: SendingRow, { at, wallAt }: Group, reason: string): void {
  const sentBy = leaseEnd(state);
  put(state, { ...baseOf(row), phase: 'unconfirmed', askedAt: at, askedWallAt: wallAt, sentBy, reason });
  state.reconcile.nextAt = state.now;
  state.reconcile.readings = 0;
}
