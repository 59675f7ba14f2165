import { describe, expect, it } from 'vitest';
import { forget, put } from '../../src/batch/state/put-row.ts';
import { progress } from '../../src/batch/shown/progress.ts';
import { begin } from '../../src/batch/state/begin.ts';
import { waitingRows } from '../../src/batch/state/state.ts';
import { paramsOf } from './params.ts';

const waiting = (row: number, dueAt = 0) =>
  ({ phase: 'waiting', place: row, attempt: 1, tries: 0, past: [], dueAt }) as const;

describe('rows', () => {
  it('that are reused have succeeded before anything is sent, without a run', () => {
    const state = begin(paramsOf({ lanes: [{ places: 3 }], reused: 7 }), 1, 0);
    const { tally, ledger, endings } = state;
    expect(progress(state)).toMatchObject({ rows: 10, reused: 7, done: 7, unsent: 3 });
    expect([tally.outcomes.succeeded, tally.gpus, ledger.sent, endings.all]).toEqual([7, {}, 0, 0]);
  });

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
    expect(waitingRows(state).map(({ place }) => place)).toEqual([2, 5, 4, 1, 3]);
  });

  it('the rows of a state leave nothing behind when they are forgotten', () => {
    const state = begin(paramsOf(), 1, 0);
    const before = structuredClone({ ...state });
    put(state, waiting(1));
    put(state, { phase: 'running', place: 1, attempt: 1, tries: 0, past: [], runId: 'r', since: 0 });
    put(state, waiting(2));
    forget(state, 1);
    forget(state, 2);
    forget(state, 3);
    expect(state).toEqual(before);
  });
});
