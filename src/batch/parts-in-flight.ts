// Parts that are being written. Their rows are no longer rows of the state, but take space in it and may have cost money.

import { addHeld, heldByEnded, isWrittenOff } from './accounting/reservations.ts';
import { laneWith } from './lanes.ts';
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
    lane.held = addHeld(lane.held, heldByEnded(row), times);
  }
}

/** An attempt or a duplicate run of this row, whose cost will never be known. */
export function spendInFull(state: State, place: number, attempts = 1): void {
  laneWith(state, place).unpriced += attempts;
}

/** The row's part is written: from now on, only the tally and this know its cost. */
export function spendWrittenOff(state: State, { place, attempts }: EndedRow): void {
  spendInFull(state, place, attempts.filter(isWrittenOff).length);
}
