import { describe, expect, it } from 'vitest';
import {
  mostConcurrency,
  PAST_BYTES,
  PAST_WITHOUT_RUN_BYTES,
  REASON_BYTES,
  RESUBMITS_MOST,
  ROW_BYTES,
  ROWS_MAX,
  SHORT_REASON_BYTES,
  STATE_BYTES_MAX,
} from '../../src/batch/bounds.ts';
import type { UnconfirmedRule } from '../../src/batch/params.ts';
import { put } from '../../src/batch/state/put-row.ts';
import { begin } from '../../src/batch/state/begin.ts';
import type { State } from '../../src/batch/state/state.ts';
import { isFull, reasonBytes } from '../../src/batch/state/state-size.ts';
import { paramsOf } from './params.ts';

const waiting = (row: number, dueAt = 0) =>
  ({ phase: 'waiting', place: row, attempt: 1, tries: 0, past: [], dueAt }) as const;

function filled(retries: number, rule: UnconfirmedRule['rule'] = 'unknown'): State {
  const unconfirmed = { rule, afterMs: 0 };
  const state = begin(paramsOf({ rows: 50_000, concurrency: 20_000, retries, unconfirmed }), 1, 0);
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

  it('room is reserved for an absent attempt and all resubmitted ones where rows may be resubmitted', () => {
    const withoutRun = (RESUBMITS_MOST + 1) * (PAST_WITHOUT_RUN_BYTES + SHORT_REASON_BYTES);
    const most = ROW_BYTES + SHORT_REASON_BYTES + 20 * PAST_BYTES + withoutRun;
    const { size } = filled(20, 'resubmit').rows;
    expect([(size - 1) * most < STATE_BYTES_MAX, size * most >= STATE_BYTES_MAX]).toEqual([true, true]);
    expect(filled(20, 'fail').rows.size).toBe(filled(20).rows.size);
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
