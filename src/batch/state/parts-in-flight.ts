// Parts that are being written. Their rows are no longer rows of the state, but take space in it and may have cost money.

import { addHeld, heldByEnded, isWrittenOff } from '../accounting/reservations.ts';
import { accountOn, accountsOf, laneWith } from './lanes.ts';
import { highestCost } from '../sending-limits/budget.ts';
import { endedRowBytes, type EndedRow } from './row-state.ts';
import type { State } from './state.ts';

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
    const lane = laneWith(state, row.place);
    if (lane.climb === undefined) lane.held = addHeld(lane.held, heldByEnded(row), times);
    else
      for (const [rung, account] of lane.climb.rungs.entries())
        account.held = addHeld(account.held, heldByEnded(row, rung), times);
  }
}

/** An attempt or a duplicate run of this row, whose cost will never be known. Without its rung, the dearest one counts. */
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

/** The row's part is written: from now on, only the tally and this know its cost. */
export function spendWrittenOff(state: State, { place, attempts }: EndedRow): void {
  for (const attempt of attempts) if (isWrittenOff(attempt)) spendInFull(state, place, attempt.rung);
}
