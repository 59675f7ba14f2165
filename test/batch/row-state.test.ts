import { describe, expect, it } from 'vitest';
import { PAST_BYTES, PAST_WITHOUT_RUN_BYTES, ROW_BYTES, SHORT_REASON_BYTES } from '../../src/batch/bounds.ts';
import type { PastAttempt } from '../../src/batch/outcome.ts';
import { bytesOf, endedRowBytes, type RowState } from '../../src/batch/state/row-state.ts';

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
