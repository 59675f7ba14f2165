// Moves rows between phases. Each phase has a queue in the state, so that the next row is found without a search.

import {
  bytesOf,
  type Deferred,
  type Ended,
  type Phase,
  type RowState,
  type Running,
  type Unconfirmed,
} from './row-state.ts';
import { addHeld, heldBy } from '../accounting/reservations.ts';
import { accountOn, laneWith, type Account } from './lanes.ts';
import type { State } from './state.ts';

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
  row: Running | Unconfirmed | Extract<RowState, { phase: 'sending' }>,
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
  const lane = laneWith(state, row.place);
  if (lane.climb === undefined) lane.held = addHeld(lane.held, heldBy(row), times);
  else
    for (const [rung, account] of lane.climb.rungs.entries())
      account.held = addHeld(account.held, heldBy(row, rung), times);
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

const isDeferred = (row: Ended): row is Deferred => row.deferral !== undefined;

function insertSorted<T>(queue: T[], item: T, timeOf: (item: T) => number): void {
  const time = timeOf(item);
  const after = queue.findLastIndex((other) => timeOf(other) <= time);
  queue.splice(after + 1, 0, item);
}

function remove<T>(queue: T[], item: T): void {
  queue.splice(queue.indexOf(item), 1);
}
