import { describe, expect, it } from 'vitest';
import {
  mostConcurrency,
  PAST_BYTES,
  REASON_BYTES,
  ROW_BYTES,
  ROWS_MAX,
  SHORT_REASON_BYTES,
  STATE_BYTES_MAX,
} from '../../src/batch/bounds.ts';
import { begin, forget, isFull, put, reasonBytes, type State } from '../../src/batch/state.ts';
import { paramsOf } from './params.ts';

const waiting = (row: number, dueAt = 0) =>
  ({ phase: 'waiting', row, attempt: 1, tries: 0, past: [], dueAt }) as const;

function filled(retries: number): State {
  const state = begin(paramsOf({ rows: 50_000, concurrency: 20_000, retries }), 1, 0);
  while (!isFull(state)) put(state, waiting(state.rows.size + 1));
  return state;
}

describe('room', () => {
  it.each([0, 1, 2, 10, 20])(
    'a state holds as many rows as may run at the same time with %d retries',
    (retries) => {
      const { rows } = filled(retries);
      expect(rows.size).toBeGreaterThanOrEqual(mostConcurrency(retries));
      expect(rows.size).toBeLessThanOrEqual(ROWS_MAX);
    },
  );

  it('room is reserved for the attempts that the rows of a state may still have', () => {
    const { rows } = filled(20);
    const most = ROW_BYTES + SHORT_REASON_BYTES + 20 * PAST_BYTES;
    expect(rows.size * most).toBeLessThan(STATE_BYTES_MAX + most);
  });

  it('the room of a state is counted in rows as well', () => {
    const state = begin(paramsOf({ retries: 0 }), 1, 0);
    for (let row = 1; row < ROWS_MAX; row += 1) state.rows.set(row, waiting(row));
    expect(isFull(state)).toBe(false);
    state.rows.set(ROWS_MAX, waiting(ROWS_MAX));
    expect(isFull(state)).toBe(true);
  });

  it('a state that is half full leaves less room for reasons', () => {
    const state = begin(paramsOf(), 1, 0);
    state.bytes = STATE_BYTES_MAX / 2 - 1;
    expect(reasonBytes(state)).toBe(REASON_BYTES);
    state.bytes += 1;
    expect(reasonBytes(state)).toBe(SHORT_REASON_BYTES);
  });
});

describe('rows', () => {
  it('the rows of a state wait in the order in which they are due, those of the same time in the order in which they came', () => {
    const state = begin(paramsOf(), 1, 0);
    for (const [row, dueAt] of [
      [1, 5],
      [2, 3],
      [3, 5],
      [4, 4],
      [5, 3],
    ] as const)
      put(state, waiting(row, dueAt));
    expect(state.waiting.map(({ row }) => row)).toEqual([2, 5, 4, 1, 3]);
  });

  it('the rows of a state leave nothing behind when they are forgotten', () => {
    const state = begin(paramsOf(), 1, 0);
    const before = structuredClone({ ...state });
    put(state, waiting(1));
    put(state, { phase: 'running', row: 1, attempt: 1, tries: 0, past: [], runId: 'r', since: 0 });
    put(state, waiting(2));
    forget(state, 1);
    forget(state, 2);
    forget(state, 3);
    expect(state).toEqual(before);
  });
});
