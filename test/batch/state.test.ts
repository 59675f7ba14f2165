import { describe, expect, it } from 'vitest';
import {
  mostConcurrency,
  PAST_BYTES,
  PAST_WITHOUT_RUN_BYTES,
  REASON_BYTES,
  MAX_RESUBMITS,
  ROW_BYTES,
  MAX_ROWS,
  SHORT_REASON_BYTES,
  MAX_STATE_BYTES,
} from '../../src/batch/bounds.ts';
import type { PastAttempt } from '../../src/batch/outcome.ts';
import { WRITES } from '../../src/batch/behaviour-version.ts';
import type { UnconfirmedRule } from '../../src/batch/params.ts';
import { progress } from '../../src/batch/shown/progress.ts';
import { endsOften, isAtRest, OFTEN_ENDS_PER_SECOND, MAX_REST_MS } from '../../src/batch/state/rest.ts';
import { forget, put, isFull, reasonBytes } from '../../src/batch/state/put-row.ts';
import { bytesOf, endedRowBytes, type RowState } from '../../src/batch/state/row-state.ts';
import { begin, type State, waitingRows } from '../../src/batch/state/state.ts';
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

  it('that could not be read are refused before anything is sent, and are no ends that a limit of failures counts', () => {
    const state = begin(paramsOf({ lanes: [{ places: 7 }], reused: 1, refused: 2 }), 1, 0);
    const { tally, ledger, endings } = state;
    expect(progress(state)).toMatchObject({ rows: 10, reused: 1, refused: 2, done: 3, unsent: 7 });
    expect(tally.outcomes).toMatchObject({ succeeded: 1, refused: 2 });
    expect([ledger.sent, endings.all]).toEqual([0, 0]);
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

const stateWith = (running: number, usualRunMs: number): State => {
  const state = begin(paramsOf(), WRITES, 0);
  state.phases.running = running;
  state.usualRunMs = usualRunMs;
  return state;
};

describe('the runs of a batch end often', () => {
  it.each([
    { running: 200, usualRunMs: 100, often: true },
    { running: 50, usualRunMs: 2_000, often: false },
    { running: OFTEN_ENDS_PER_SECOND, usualRunMs: 1_000, often: true },
    { running: OFTEN_ENDS_PER_SECOND - 1, usualRunMs: 1_000, often: false },
    { running: 3_000, usualRunMs: MAX_REST_MS, often: true },
    { running: 3_000, usualRunMs: MAX_REST_MS + 1, often: false },
  ])('with $running runs of $usualRunMs ms: $often', ({ running, usualRunMs, often }) => {
    expect(endsOften(stateWith(running, usualRunMs))).toBe(often);
  });

  it('only once their time is known', () => {
    expect(endsOften(stateWith(200, 0))).toBe(false);
  });
});

describe('a batch is at rest', () => {
  it.each<[string, (state: State) => void]>([
    ['a run', (state) => (state.phases.running = 1)],
    ['a group', (state) => state.groups.set(1, { attempts: [], at: 0, wallAt: 0 })],
    ['a part', (state) => state.parts.set(1, [])],
    ['a cancel', (state) => state.cancelsInFlight.set(1, [])],
    ['evidence on its way', (state) => (state.keeping = 1)],
    ['log entries on their way', (state) => (state.loggingNow = 1)],
  ])('without %s', (_, make) => {
    const state = stateWith(0, 100);
    expect(isAtRest(state)).toBe(true);
    make(state);
    expect(isAtRest(state)).toBe(false);
  });
});

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
      expect(rows.size).toBeLessThanOrEqual(MAX_ROWS);
    },
  );

  it('room is reserved for the attempts that the rows of a state may still have', () => {
    const { rows } = filled(20);
    const most = ROW_BYTES + SHORT_REASON_BYTES + 20 * PAST_BYTES;
    expect(rows.size * most).toBeLessThan(MAX_STATE_BYTES + most);
  });

  it('room is reserved for an absent attempt and all resubmitted ones where rows may be resubmitted', () => {
    const withoutRun = (MAX_RESUBMITS + 1) * (PAST_WITHOUT_RUN_BYTES + SHORT_REASON_BYTES);
    const most = ROW_BYTES + SHORT_REASON_BYTES + 20 * PAST_BYTES + withoutRun;
    const { size } = filled(20, 'resubmit').rows;
    expect([(size - 1) * most < MAX_STATE_BYTES, size * most >= MAX_STATE_BYTES]).toEqual([true, true]);
    expect(filled(20, 'fail').rows.size).toBe(filled(20).rows.size);
  });

  it('the room of a state is counted in rows as well', () => {
    const state = begin(paramsOf({ retries: 0 }), 1, 0);
    for (let row = 1; row < MAX_ROWS; row += 1) state.rows.set(row, waiting(row));
    expect(isFull(state)).toBe(false);
    state.rows.set(MAX_ROWS, waiting(MAX_ROWS));
    expect(isFull(state)).toBe(true);
  });

  it('a state that is half full leaves less room for reasons', () => {
    const state = begin(paramsOf(), 1, 0);
    state.bytes = MAX_STATE_BYTES / 2 - 1;
    expect(reasonBytes(state)).toBe(REASON_BYTES);
    state.bytes += 1;
    expect(reasonBytes(state)).toBe(SHORT_REASON_BYTES);
  });
});

const base = { place: 1, attempt: 3, tries: 0, past: [] } as const;
const sending = { ...base, phase: 'sending' } as const;
const running = { ...base, phase: 'running', runId: 'r', since: 0 } as const;
const unconfirmed = { ...base, phase: 'unconfirmed', askedAt: 0, askedWallAt: 0, sentBy: 0 } as const;
const ended = { ...base, phase: 'ended', at: 0, outcome: 'failed', runId: 'r' } as const;
/** Each character takes two bytes in JSON. */
const quotes = (count: number): string => '"'.repeat(count);

const ROWS: readonly (readonly [what: string, bytes: number, row: RowState])[] = [
  ['that waits', 0, { ...base, phase: 'waiting', dueAt: 0 }],
  ['in flight', 0, sending],
  ['in flight, for which runs were seen', 80, { ...sending, seen: ['a', 'b'] }],
  ['that runs', 0, running],
  ['whose run takes too long', 20, { ...running, overdue: { at: 0, reason: quotes(10) } }],
  ['that is unconfirmed', 20, { ...unconfirmed, reason: quotes(10) }],
  ['that has ended', 0, ended],
  ['that has ended for a reason', 20, { ...ended, reason: quotes(10) }],
];

const PAST: readonly (readonly [what: string, bytes: number, past: PastAttempt])[] = [
  ['without a run', PAST_WITHOUT_RUN_BYTES, { attempt: 1, outcome: 'absent' }],
  [
    'without a run, with a reason',
    PAST_WITHOUT_RUN_BYTES + 20,
    { attempt: 1, outcome: 'absent', reason: quotes(10) },
  ],
  ['with a run', PAST_BYTES, { attempt: 1, outcome: 'failed', runId: 'r' }],
  [
    'with a run and a short reason',
    PAST_BYTES,
    { attempt: 1, outcome: 'failed', runId: 'r', reason: quotes(SHORT_REASON_BYTES / 2) },
  ],
  [
    'with a run and a longer reason',
    PAST_BYTES + 20,
    { attempt: 1, outcome: 'failed', runId: 'r', reason: quotes(SHORT_REASON_BYTES / 2 + 10) },
  ],
];

describe('room of a row', () => {
  it.each(ROWS)('the room of a row %s is that of every row and %i bytes', (_, bytes, row) => {
    expect(bytesOf(row)).toBe(ROW_BYTES + bytes);
  });

  it.each(PAST)('the room of a row grows with each earlier attempt %s by %i bytes', (_, bytes, past) => {
    expect(bytesOf({ ...running, past: [past] })).toBe(ROW_BYTES + bytes);
    expect(bytesOf({ ...running, past: [past, past] })).toBe(ROW_BYTES + 2 * bytes);
    expect(endedRowBytes({ place: 1, attempts: [past, past] })).toBe(ROW_BYTES + 2 * bytes);
  });
});
