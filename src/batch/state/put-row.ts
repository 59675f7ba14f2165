// Moves rows between phases. Each phase has a queue in the state, so that the next row is found without a search.

import {
  bytesOf,
  type Deferred,
  type UncollectedRow,
  type Phase,
  type RowState,
  type RunningRow,
  type UnconfirmedRow,
  baseOf,
  type Base,
  endedRowBytes,
  type EndedRow,
} from './row-state.ts';
import { addHeld, heldBy, heldByEnded, isWrittenOff, type Held } from '../accounting/reserved-attempts.ts';
import { accountOn, laneWith, type Account, accountsOf, type Lane } from './lanes.ts';
import type { State } from './state.ts';
import { clipped } from '../../options/text/clipped.ts';
import { type FailureKind, mostRetries } from '../../options/facts/failure-kind.ts';
import { OUTCOME_CLASS, type Outcome, countFailure } from '../outcome.ts';
import { highestCost } from '../sending-limits/budget.ts';
import { REASON_BYTES, reservedBytes, MAX_ROWS, SHORT_REASON_BYTES, MAX_STATE_BYTES } from '../bounds.ts';
import { mayPass } from '../canary.ts';

const SLOT_PHASES: ReadonlySet<Phase> = new Set(['sending', 'running', 'unconfirmed']);

/** Moves a row into a phase, from any other phase. */
export function put(state: State, row: RowState): void {
  forget(state, row.place);
  state.rows.set(row.place, row);
  state.phases[row.phase] += 1;
  state.bytes += bytesOf(row);
  countIn(state, row, 1);
  enterQueue(state, row);
}

/** Changes a row without changing its phase: it keeps its position in every queue. */
export function amend(
  state: State,
  row: RunningRow | UnconfirmedRow | Extract<RowState, { phase: 'sending' }>,
): void {
  state.bytes += bytesOf(row) - bytesOf(state.rows.get(row.place) as RowState);
  state.rows.set(row.place, row);
  if (row.phase === 'running' && row.overdue !== undefined) {
    state.overdue.delete(row.place);
    state.overdue.add(row.place);
  }
}

/** Removes a row from the state. */
export function forget(state: State, number: number): void {
  const row = state.rows.get(number);
  if (row === undefined) return;
  state.rows.delete(number);
  state.phases[row.phase] -= 1;
  state.bytes -= bytesOf(row);
  countIn(state, row, -1);
  leaveQueue(state, row);
}

function countIn(state: State, row: RowState, times: 1 | -1): void {
  if (SLOT_PHASES.has(row.phase)) accountOf(state, row).outstanding += times;
  hold(laneWith(state, row.place), (rung) => heldBy(row, rung), times);
}

/** On a ladder, each rung counts its own attempts. */
function hold(lane: Lane, heldOn: (rung?: number) => Held, times: 1 | -1): void {
  if (lane.climb === undefined) lane.held = addHeld(lane.held, heldOn(), times);
  else
    for (const [rung, account] of lane.climb.rungs.entries())
      account.held = addHeld(account.held, heldOn(rung), times);
}

const accountOf = (state: State, { place, rung }: RowState): Account =>
  accountOn(laneWith(state, place), rung);

function enterQueue(state: State, row: RowState): void {
  if (row.phase === 'waiting') insertSorted(accountOf(state, row).waiting, row, ({ dueAt }) => dueAt);
  else if (row.phase === 'running') {
    state.unpolled.add(row.place);
    if (row.overdue !== undefined) state.overdue.add(row.place);
  } else if (row.phase === 'unconfirmed') state.unconfirmed.push(row.place);
  else if (row.phase === 'ended') {
    if (isDeferred(row)) insertSorted(state.deferred, row, ({ deferral }) => deferral.notBefore);
    else state.ended.push(row);
  }
}

function leaveQueue(state: State, row: RowState): void {
  if (row.phase === 'waiting') remove(accountOf(state, row).waiting, row);
  else if (row.phase === 'running') {
    state.unpolled.delete(row.place);
    state.overdue.delete(row.place);
  } else if (row.phase === 'unconfirmed') remove(state.unconfirmed, row.place);
  else if (row.phase === 'ended') remove(isDeferred(row) ? state.deferred : state.ended, row);
}

const isDeferred = (row: UncollectedRow): row is Deferred => row.deferral !== undefined;

function insertSorted<T>(queue: T[], item: T, timeOf: (item: T) => number): void {
  const time = timeOf(item);
  const after = queue.findLastIndex((queued) => timeOf(queued) <= time);
  queue.splice(after + 1, 0, item);
}

function remove<T>(queue: T[], item: T): void {
  queue.splice(queue.indexOf(item), 1);
}

type RowEnd = {
  readonly outcome: Outcome;
  readonly failure?: FailureKind | undefined;
  readonly runId?: string | undefined;
  readonly reason?: string | undefined;
};

export function endRow(state: State, row: Base, end: RowEnd): void {
  const { outcome, runId } = end;
  const reason = end.reason && clipped(end.reason, reasonBytes(state));
  const facts = { ...(runId === undefined ? {} : { runId }), ...(reason ? { reason } : {}) };
  put(state, { ...baseOf(row), phase: 'ended', at: state.now, outcome, ...facts });
  state.failures = countFailure(state.failures, end);
  const { all: ended, bad } = state.endings;
  // A row that the user cancelled is no failure.
  const isBad = outcome !== 'cancelled' && OUTCOME_CLASS[outcome] !== 'good';
  state.endings = { all: ended + 1, bad: bad + Number(isBad) };
  if (outcome !== 'succeeded')
    state.lastFailure = { place: row.place, outcome, ...(reason ? { reason } : {}) };
}

// Adds a part that is being written. Its rows are no longer rows of the state, but take space in it and may have cost
// money.
export function addPart(state: State, part: number, rows: readonly EndedRow[]): void {
  state.parts.set(part, rows);
  count(state, rows, 1);
}

export function removePart(state: State, part: number, rows: readonly EndedRow[]): void {
  state.parts.delete(part);
  count(state, rows, -1);
}

function count(state: State, rows: readonly EndedRow[], times: 1 | -1): void {
  for (const row of rows) {
    state.bytes += times * endedRowBytes(row);
    hold(laneWith(state, row.place), (rung) => heldByEnded(row, rung), times);
  }
}

/**
 * Counts an attempt or duplicate run of this row whose cost will never be known. Without a rung, the dearest one
 * counts.
 */
export function spendInFull(
  state: State,
  place: number,
  rung = dearestRung(state, place),
  attempts = 1,
): void {
  accountOn(laneWith(state, place), rung).unpriced += attempts;
}

function dearestRung(state: State, place: number): number {
  const costs = accountsOf(laneWith(state, place)).map((account) => highestCost(state.params, account));
  return costs.indexOf(Math.max(...costs));
}

/** Spends the written-off attempts of a row whose part is written: from then on, only the tally and this know its cost. */
export function spendWrittenOff(state: State, { place, attempts }: EndedRow): void {
  for (const attempt of attempts) if (isWrittenOff(attempt)) spendInFull(state, place, attempt.rung);
}

/** Whether no further row may enter. Each row in the state has space reserved for the attempts that it may still need. */
export const isFull = (state: State): boolean =>
  state.rows.size >= MAX_ROWS || neededBytes(state) >= MAX_STATE_BYTES;

/** Whether the next place of the lane may be sent. */
export const mayTakePlace = (state: State, { segments: [next] }: Pick<Lane, 'segments'>): boolean =>
  next !== undefined && state.cancelling === undefined && mayPass(state, next) && !isFull(state);

/** The bytes that the rows in the state take now and may still need. */
export function neededBytes({ rows, bytes, params }: Pick<State, 'rows' | 'bytes' | 'params'>): number {
  const { unconfirmed } = params;
  return (
    bytes +
    rows.size * reservedBytes({ retries: mostRetries(params), resubmits: unconfirmed.rule === 'resubmit' })
  );
}

/** How many bytes a reason may take; fewer once the state is half full. */
export const reasonBytes = ({ bytes }: State): number =>
  bytes < MAX_STATE_BYTES / 2 ? REASON_BYTES : SHORT_REASON_BYTES;
