import { describe, expect, it } from 'vitest';
import { sendFrom } from '../send-from.ts';
import { CLOCK_SLACK_MS, LEASE_MS, SHORT_REASON_BYTES, UNCONFIRMED_MS } from '../../../src/batch/bounds.ts';
import type { ListReading } from '../../../src/batch/events.ts';
import { isStuck, onListRead } from '../../../src/batch/on-event/list-read.ts';
import { WRITES } from '../../../src/batch/behaviour-version.ts';
import type { BatchParams } from '../../../src/batch/params.ts';
import type { UnconfirmedRow } from '../../../src/batch/state/row-state.ts';
import { put } from '../../../src/batch/state/put-row.ts';
import { begin, NEW_TRIAL, unconfirmedRows, type State } from '../../../src/batch/state/state.ts';
import { paramsOf, TIMING } from '../params.ts';
import { PROOF_MS, STUCK_MS, runOfFirst } from '../scenes.ts';

const { postDeadlineMs, listGapMs, settleWithoutControlMs } = TIMING;
/** When the last byte of row 1's POST may have been written. */
const SENT_BY = 5_000;
const COMPLETE: ListReading = { answer: 'complete', found: [], hasControl: false };
const SHOWS_CONTROL: ListReading = { ...COMPLETE, hasControl: true };
const INCOMPLETE: ListReading = { answer: 'incomplete', found: [], hasControl: false };
const NONE: ListReading = { answer: 'none', found: [], hasControl: false };

const unconfirmedRow = (attempt: number): UnconfirmedRow => ({
  place: 1,
  attempt,
  tries: 0,
  past: [],
  phase: 'unconfirmed',
  askedAt: 0,
  askedWallAt: 0,
  sentBy: SENT_BY,
  reason: 'no answer',
});

/** Row 1 has been unconfirmed since time 0. */
function doubtful(params: Partial<BatchParams> = {}): State {
  const state = begin(paramsOf({ rows: 1, concurrency: 1, ...params }), WRITES, 0);
  put(state, unconfirmedRow(1));
  state.ledger = { ...state.ledger, sent: 1, unconfirmed: 1 };
  sendFrom(state, 2);
  return state;
}

/** A reading requested and completed at this time; `controlAt`: when the group of its control was issued. */
function read(state: State, requestedAt: number, reading: ListReading, controlAt?: number): void {
  state.now = Math.max(state.now, requestedAt);
  Object.assign(state.reconcile, { requestedAt, controlAt });
  onListRead(state, reading);
}

const phaseOf = (state: State) => state.rows.get(1)?.phase;

describe('found', () => {
  it('a run that a list shows is adopted immediately', () => {
    const state = doubtful();
    read(state, 0, { ...COMPLETE, found: [runOfFirst('found')] });
    expect(state.rows.get(1)).toMatchObject({ phase: 'running', runId: 'found' });
    expect(state.ledger.adopted).toEqual({ webhook: 0, list: 1 });
  });

  it('a run that a list shows is adopted also from a list that could not be read to its end', () => {
    const state = doubtful();
    read(state, 0, { ...INCOMPLETE, found: [runOfFirst('found')] });
    expect(phaseOf(state)).toBe('running');
  });
});

describe('proof of absence', () => {
  const from = SENT_BY + postDeadlineMs + settleWithoutControlMs;

  it("the proof that there is no run takes as long by the service's clock, however Temporal's leaps", () => {
    const state = doubtful();
    const isTimed = (at: number, serviceNowMs: number): string | undefined => {
      read(state, at, { ...COMPLETE, serviceNowMs });
      return phaseOf(state);
    };
    const ms = postDeadlineMs + settleWithoutControlMs + LEASE_MS;
    // A list that was requested before the attempt was unconfirmed.
    isTimed(-1, 0);
    isTimed(0, 7_000);
    isTimed(from, 7_001);
    isTimed(from + ms, 7_000 + ms - 1);
    expect(isTimed(from + ms + listGapMs, 7_000 + ms)).toBe('unconfirmed');
    expect(isTimed(from + ms + 2 * listGapMs, 7_000 + ms)).toBe('waiting');
  });

  it("no jump of the service's clock counts as time that has passed, nor does one keep a row unconfirmed", () => {
    const state = doubtful();
    const day = 86_400_000;
    const isTimed = (at: number, serviceNowMs: number): string | undefined => {
      read(state, at, { ...COMPLETE, serviceNowMs });
      return phaseOf(state);
    };
    isTimed(0, day);
    isTimed(1_000, 0);
    isTimed(from, CLOCK_SLACK_MS);
    isTimed(from + 1_000, day);
    expect(isTimed(from + listGapMs, day + listGapMs)).toBe('unconfirmed');
    expect(state.rows.get(1)).not.toHaveProperty('missedAt');
    isTimed(2 * from, day + from);
    expect(isTimed(2 * from + listGapMs, day + from + listGapMs)).toBe('waiting');
  });

  it('a list of a service whose clock stands still counts as none that can be read, and one that says no time is believed', () => {
    for (const [last, outcome] of [
      [{ ...COMPLETE, serviceNowMs: 7 }, 'unknown'],
      [COMPLETE, undefined],
    ] as const) {
      const state = doubtful();
      read(state, 0, { ...COMPLETE, serviceNowMs: 7 });
      read(state, SENT_BY + UNCONFIRMED_MS - 1, last);
      expect(phaseOf(state)).toBe('unconfirmed');
      read(state, SENT_BY + UNCONFIRMED_MS + listGapMs, last);
      expect(state.rows.get(1)).toMatchObject({
        phase: outcome ? 'ended' : 'waiting',
        ...(outcome && { outcome }),
      });
    }
  });

  it('a list from a wrong time counts as none only when a proof would have been complete', () => {
    const state = doubtful({ unconfirmed: { rule: 'resubmit', afterMs: 1 } });
    const hourLater = STUCK_MS + 3_600_000;
    for (const at of [0, from, STUCK_MS, hourLater - 1]) read(state, at, { ...COMPLETE, serviceNowMs: 7 });
    expect(phaseOf(state)).toBe('unconfirmed');
    read(state, hourLater, { ...COMPLETE, serviceNowMs: 7 });
    expect(state.ledger).toMatchObject({ absent: 0, resubmitted: 1 });
  });

  it('an attempt whose service was away at first is not stuck before its absence could be proved', () => {
    const late = 60_000;
    const ms = postDeadlineMs + settleWithoutControlMs + LEASE_MS;
    const state = doubtful();
    // The first reading that the service answers.
    read(state, SENT_BY + late, { ...COMPLETE, serviceNowMs: late });
    state.now = SENT_BY + late + ms + listGapMs;
    expect(isStuck(state, unconfirmedRows(state)[0] as UnconfirmedRow)).toBe(false);
    read(state, SENT_BY + late + ms, { ...COMPLETE, serviceNowMs: late + ms });
    read(state, SENT_BY + late + ms + listGapMs, { ...COMPLETE, serviceNowMs: late + ms + listGapMs });
    expect(phaseOf(state)).toBe('waiting');
    const before = { ...doubtful(), version: 7 };
    read(before, SENT_BY + late, { ...COMPLETE, serviceNowMs: late });
    before.now = SENT_BY + late;
    expect(isStuck(before, unconfirmedRows(before)[0] as UnconfirmedRow)).toBe(true);
  });

  it("a batch of version 4 does not ask for the service's time", () => {
    const state = { ...doubtful(), version: 4 };
    for (const at of [0, from, from + listGapMs]) read(state, at, { ...COMPLETE, serviceNowMs: 7 });
    expect(phaseOf(state)).toBe('waiting');
  });

  it('the proof that there is no run takes two complete lists, a gap apart, each asked for late enough', () => {
    const state = doubtful();
    read(state, from - 1, COMPLETE);
    read(state, from, COMPLETE);
    expect(phaseOf(state)).toBe('unconfirmed');
    read(state, from + listGapMs - 1, COMPLETE);
    expect(phaseOf(state)).toBe('unconfirmed');
    read(state, from + listGapMs, COMPLETE);
    expect(state.rows.get(1)).toMatchObject({ phase: 'waiting', attempt: 2, tries: 0 });
    expect(state.ledger.absent).toBe(1);
    expect([...state.abandoned]).toEqual(['1/1']);
  });

  it('the proof that there is no run is not helped by a list that could not be read to its end', () => {
    const state = doubtful({ unconfirmed: { rule: 'unknown', afterMs: 10 ** 9 } });
    read(state, from, COMPLETE);
    read(state, from + listGapMs, INCOMPLETE);
    expect(phaseOf(state)).toBe('unconfirmed');
    read(state, from + 2 * listGapMs, COMPLETE);
    expect(state.ledger.absent).toBe(1);
  });

  it('the proof that there is no run takes less time if the lists show a run that was accepted later', () => {
    const state = doubtful();
    const sooner = SENT_BY + postDeadlineMs + TIMING.settleMs;
    read(state, sooner, SHOWS_CONTROL, SENT_BY + 1);
    read(state, sooner + listGapMs, SHOWS_CONTROL, SENT_BY + 1);
    expect(state.ledger.absent).toBe(1);
  });

  it.each([
    ['that was accepted before', SHOWS_CONTROL, SENT_BY],
    ['of unknown age', SHOWS_CONTROL, undefined],
    ['that they should show, and do not', COMPLETE, SENT_BY + 1],
  ] as const)(
    'the proof that there is no run takes all of its time with a control run %s',
    (_, reading, controlAt) => {
      const state = doubtful();
      for (const late of [0, 1, 2])
        read(state, SENT_BY + postDeadlineMs + late * listGapMs, reading, controlAt);
      expect(phaseOf(state)).toBe('unconfirmed');
      read(state, from, reading, controlAt);
      read(state, from + listGapMs, reading, controlAt);
      expect(state.ledger.absent).toBe(1);
    },
  );

  it('the proof that there is no run leaves a short reason, and a cancelled batch does not send the row again', () => {
    const again = doubtful();
    const cancelled = doubtful();
    cancelled.cancelling = 'unsent';
    for (const state of [again, cancelled]) {
      put(state, { ...(state.rows.get(1) as never as object), reason: 'x'.repeat(300) } as never);
      read(state, from, COMPLETE);
      read(state, from + listGapMs, COMPLETE);
    }
    expect(again.rows.get(1)?.past).toEqual([
      { attempt: 1, outcome: 'absent', reason: 'x'.repeat(SHORT_REASON_BYTES) },
    ]);
    expect(cancelled.rows.get(1)).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
  });

  it('the proof that there is no run keeps the outcomes of earlier runs of the row', () => {
    const failed = { attempt: 1, outcome: 'failed', runId: 'run-0' } as const;
    const state = doubtful();
    put(state, { ...unconfirmedRow(3), past: [failed, { attempt: 2, outcome: 'absent' }] });
    read(state, from, COMPLETE);
    read(state, from + listGapMs, COMPLETE);
    expect(state.rows.get(1)?.past).toMatchObject([failed, { attempt: 3, outcome: 'absent' }]);
  });

  it('a row keeps one trace of its absent attempts, however long the service loses its requests', () => {
    const state = doubtful();
    for (let attempt = 1; attempt <= 50; attempt += 1) {
      const { now } = state;
      const base = { place: 1, attempt, tries: 0, past: state.rows.get(1)?.past ?? [] };
      put(state, {
        ...base,
        phase: 'unconfirmed',
        askedAt: now,
        askedWallAt: now,
        sentBy: now,
        reason: `no answer ${attempt}`,
      });
      read(state, now + from, COMPLETE);
      read(state, now + from + listGapMs, COMPLETE);
    }
    expect(state.ledger.absent).toBe(50);
    expect(state.rows.get(1)).toMatchObject({ attempt: 51, past: [{ attempt: 50, outcome: 'absent' }] });
  });
});

describe('unresolved', () => {
  it('an attempt that no list resolves ends as unknown after the time of the rule, and is never sent again', () => {
    const state = doubtful();
    read(state, SENT_BY + 499, NONE);
    expect(phaseOf(state)).toBe('unconfirmed');
    read(state, SENT_BY + 500, NONE);
    expect(state.rows.get(1)).toMatchObject({
      phase: 'ended',
      outcome: 'unknown',
      reason: 'may have run unseen: no answer',
    });
    expect(state.ledger.unknown).toBe(1);
    expect([...state.abandoned]).toEqual(['1/1']);
  });

  it('an attempt that no list resolves fails or goes again under a new token by the other rules, as money at risk', () => {
    const fails = doubtful({ unconfirmed: { rule: 'fail', afterMs: 500 } });
    read(fails, SENT_BY + 500, NONE);
    expect(fails.rows.get(1)).toMatchObject({ phase: 'ended', outcome: 'failed' });
    expect(fails.ledger.failed).toBe(1);
    const again = doubtful({ unconfirmed: { rule: 'resubmit', afterMs: 500 } });
    read(again, SENT_BY + 500, NONE);
    expect(again.rows.get(1)).toMatchObject({
      phase: 'waiting',
      attempt: 2,
      past: [{ attempt: 1, outcome: 'unknown', reason: 'may have run unseen: no answer' }],
    });
    expect(again.ledger.resubmitted).toBe(1);
  });

  it('an attempt that no list resolves is resubmitted three times at most: each time may have bought a run', () => {
    const state = doubtful({ unconfirmed: { rule: 'resubmit', afterMs: 500 } });
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      put(state, { ...unconfirmedRow(attempt), past: state.rows.get(1)?.past ?? [] });
      read(state, SENT_BY + 500, NONE);
    }
    expect(state.rows.get(1)).toMatchObject({ phase: 'ended', outcome: 'unknown', attempt: 4 });
    expect(state.ledger).toMatchObject({ resubmitted: 3, unknown: 1 });
  });

  it('an attempt that no list resolves is resubmitted as often although earlier runs of its row have failed', () => {
    const failed = [1, 2, 3].map(
      (attempt) => ({ attempt, outcome: 'failed', runId: `r${attempt}` }) as const,
    );
    const absent = { attempt: 4, outcome: 'absent' } as const;
    const state = doubtful({ unconfirmed: { rule: 'resubmit', afterMs: 500 } });
    put(state, { ...unconfirmedRow(5), past: [...failed, absent] });
    read(state, SENT_BY + 500, NONE);
    expect(state.rows.get(1)).toMatchObject({ phase: 'waiting', attempt: 6 });
    expect(state.rows.get(1)?.past).toMatchObject([...failed, absent, { attempt: 5, outcome: 'unknown' }]);
  });

  it('an attempt that no list resolves is resubmitted before a first success too, also if it is a retry', () => {
    const state = doubtful({ unconfirmed: { rule: 'resubmit', afterMs: 500 } });
    const past = [{ attempt: 1, outcome: 'failed', runId: 'r1' }] as const;
    put(state, { ...unconfirmedRow(2), tries: 1, past });
    read(state, SENT_BY + 500, NONE);
    expect(state.trial).toEqual(NEW_TRIAL);
    expect(state.rows.get(1)).toMatchObject({ phase: 'waiting', attempt: 3, tries: 1, dueAt: state.now });
  });

  it('an attempt that no list resolves waits a day if lists only fail for now, unless the rule is to resubmit', () => {
    for (const rule of ['unknown', 'fail'] as const) {
      const state = doubtful({ unconfirmed: { rule, afterMs: 500 } });
      read(state, SENT_BY + UNCONFIRMED_MS - 1, INCOMPLETE);
      expect(phaseOf(state)).toBe('unconfirmed');
      read(state, SENT_BY + UNCONFIRMED_MS, INCOMPLETE);
      expect(phaseOf(state)).toBe('ended');
    }
    const again = doubtful({ unconfirmed: { rule: 'resubmit', afterMs: 500 } });
    read(again, SENT_BY + 500, INCOMPLETE);
    expect(phaseOf(again)).toBe('waiting');
  });

  it('an attempt that no list resolves ends as unknown in a cancelled batch once no proof can be expected, whatever the rule', () => {
    for (const rule of ['unknown', 'fail', 'resubmit', 'ask'] as const) {
      const state = doubtful({ unconfirmed: { rule, afterMs: 10 ** 9 } });
      state.cancelling = 'unsent';
      const stuckAt = SENT_BY + STUCK_MS - PROOF_MS + postDeadlineMs + settleWithoutControlMs;
      read(state, stuckAt - 1, INCOMPLETE);
      expect(phaseOf(state)).toBe('unconfirmed');
      read(state, stuckAt, INCOMPLETE);
      expect(state.rows.get(1)).toMatchObject({ phase: 'ended', outcome: 'unknown' });
    }
  });
});

describe('readings', () => {
  it('a reading that the batch did not ask for changes nothing', () => {
    const state = doubtful();
    onListRead(state, { ...COMPLETE, found: [runOfFirst('found')] });
    expect(phaseOf(state)).toBe('unconfirmed');
  });

  it('a reading that took longer than the gap is followed by the next one immediately', () => {
    const state = doubtful();
    state.now = 10_000;
    read(state, 0, INCOMPLETE);
    expect(state.reconcile.nextAt).toBe(10_001);
  });

  it('a reading says nothing about an attempt that was sent after it was asked for', () => {
    const state = doubtful();
    state.now = 10 ** 9;
    read(state, SENT_BY - 1, COMPLETE);
    read(state, SENT_BY - 1, NONE);
    expect(phaseOf(state)).toBe('unconfirmed');
  });
});
