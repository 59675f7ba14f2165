import { describe, expect, it } from 'vitest';
import { REASON_BYTES } from '../../../src/batch/bounds.ts';
import { HOLD_BASE_MS } from '../../../src/batch/sending-limits/send-backoff.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import { proven, running, runOfFirst } from '../scenes.ts';
import { World } from '../world.ts';

const FIRST = { place: 1, attempt: 1 } as const;

describe('group ended', () => {
  it('the end of a group moves each row on by the class of its POST', () => {
    const world = proven(new World({ rows: 7, concurrency: 6 }));
    world.end([
      { place: 1, attempt: 1, result: 'accepted', runId: 'run-a' },
      { place: 2, attempt: 1, result: 'rejected', reason: 'no such input' },
      { place: 3, attempt: 1, result: 'throttled', retryAfterMs: 5_000 },
      { place: 4, attempt: 1, result: 'blocked', reason: '402: no credits' },
      { place: 5, attempt: 1, result: 'not-sent', reason: 'ECONNREFUSED' },
    ]);
    const phases = [1, 2, 3, 4, 5, 6].map((row) => world.state.rows.get(row)?.phase);
    expect(phases).toEqual(['running', 'ended', 'waiting', 'waiting', 'waiting', 'unconfirmed']);
    expect(world.state.ledger).toMatchObject({
      sent: 5,
      accepted: 1,
      rejected: 1,
      throttled: 1,
      blocked: 1,
      unconfirmed: 1,
    });
  });

  it('a row that its sheet no longer asks for is cancelled, and counts as no request', () => {
    const world = new World({ rows: 2, concurrency: 2 });
    world.end([
      { place: 1, attempt: 1, result: 'left-out', reason: 'left out' },
      { place: 2, attempt: 1, result: 'accepted', runId: 'run-b' },
    ]);
    expect(world.state.rows.get(1)).toMatchObject({ outcome: 'cancelled', reason: 'left out' });
    expect(world.state.ledger).toMatchObject({ sent: 1, accepted: 1 });
  });

  it('a run that was paid for earlier counts as no request, and is no control for lists', () => {
    const world = new World({ rows: 2, concurrency: 2 });
    world.end([
      { place: 1, attempt: 1, result: 'accepted', runId: 'paid', isKnown: true },
      { place: 2, attempt: 1, result: 'throttled' },
    ]);
    expect(world.state.rows.get(1)).toMatchObject({ phase: 'running', runId: 'paid' });
    expect(world.state.ledger).toMatchObject({ sent: 1, accepted: 0, throttled: 1 });
    expect(world.state.control).toBeUndefined();
    expect(world.state.consecutiveFailures).toBe(1);
  });

  it('a run that was paid for earlier is no duplicate of a row that has ended since', () => {
    const world = new World({ rows: 1 });
    world.apply({
      type: 'runsCompleted',
      by: 'webhook',
      completions: [{ ...runOfFirst('seen'), outcome: 'failed' }],
    });
    world.end([{ ...FIRST, result: 'accepted', runId: 'paid', isKnown: true }]);
    expect(world.state.ledger.duplicates).toBe(0);
  });

  it('an attempt that was turned away waits alone if others of its group were accepted', () => {
    const world = new World({ rows: 10, concurrency: 3 });
    world.end([
      { place: 1, attempt: 1, result: 'accepted', runId: 'run-a' },
      { place: 2, attempt: 1, result: 'throttled', retryAfterMs: 5_000 },
      { place: 3, attempt: 1, result: 'not-sent', reason: 'ECONNREFUSED' },
    ]);
    expect(world.state.rows.get(2)).toMatchObject({
      phase: 'waiting',
      dueAt: world.state.now + 5_000,
      tries: 0,
    });
    expect(world.state.rows.get(3)).toMatchObject({
      phase: 'waiting',
      dueAt: world.state.now + HOLD_BASE_MS,
    });
    world.pass(HOLD_BASE_MS - 1);
    expect(world.sends.flatMap(({ attempts }) => attempts).map(({ place }) => place)).toEqual([4, 5]);
  });

  it('an attempt that was turned away waits half a second without a Retry-After, and never longer than the maximum', () => {
    const world = new World({ rows: 3, concurrency: 3 });
    world.end([
      { place: 1, attempt: 1, result: 'accepted', runId: 'run-a' },
      { place: 2, attempt: 1, result: 'throttled' },
      { place: 3, attempt: 1, result: 'not-sent', retryAfterMs: 10 ** 12 },
    ]);
    const dueIn = (row: number) => {
      const state = world.state.rows.get(row);
      return state?.phase === 'waiting' ? state.dueAt - world.state.now : undefined;
    };
    expect([dueIn(2), dueIn(3)]).toEqual([HOLD_BASE_MS, 600_000]);
  });

  it('attempts without a result are unconfirmed or not sent, as the end of their group says', () => {
    const lost = new World({ rows: 1, concurrency: 1 });
    lost.apply({
      type: 'groupEnded',
      group: 1,
      results: [],
      rest: 'unconfirmed',
      reason: 'the worker was lost',
    });
    expect(lost.state.rows.get(1)).toMatchObject({ phase: 'unconfirmed', reason: 'the worker was lost' });
    const unsent = new World({ rows: 1, concurrency: 1 });
    unsent.apply({ type: 'groupEnded', group: 1, results: [], rest: 'not-sent' });
    expect(unsent.state.rows.get(1)).toMatchObject({ phase: 'waiting', attempt: 1 });
    expect(unsent.state.ledger.sent).toBe(0);
  });

  it('the end of an unknown group changes nothing', () => {
    const world = running({ rows: 1, concurrency: 1 });
    const before = progress(world.state);
    world.apply({
      type: 'groupEnded',
      group: 99,
      results: [{ ...FIRST, result: 'rejected' }],
      rest: 'unconfirmed',
    });
    expect(progress(world.state)).toEqual(before);
  });

  it("a rejected row has its outcome, with the service's reason", () => {
    const world = new World({ rows: 1, concurrency: 1 });
    world.end([{ ...FIRST, result: 'rejected', reason: 'no such input' }]);
    expect(world.collects[0]?.rows).toEqual([
      { place: 1, attempts: [{ attempt: 1, outcome: 'refused', reason: 'no such input' }] },
    ]);
    expect(progress(world.state).lastFailure).toEqual({
      place: 1,
      outcome: 'refused',
      reason: 'no such input',
    });
  });

  it('a rejected row has no reason if the service gave none', () => {
    const world = new World({ rows: 1, concurrency: 1 });
    world.end([{ ...FIRST, result: 'rejected' }]);
    expect(world.collects[0]?.rows[0]?.attempts).toEqual([{ attempt: 1, outcome: 'refused' }]);
  });

  it('a row keeps as much of a reason as fits', () => {
    const world = new World({ rows: 2, concurrency: 2 });
    world.end([
      { place: 1, attempt: 1, result: 'rejected', reason: '"'.repeat(5_000) },
      { place: 2, attempt: 1, result: 'unconfirmed', reason: 'é'.repeat(5_000) },
    ]);
    expect(world.state.rows.get(1)).toMatchObject({ reason: '"'.repeat(REASON_BYTES / 2) });
    expect(world.state.rows.get(2)).toMatchObject({ reason: 'é'.repeat(REASON_BYTES / 2) });
  });
});

describe('runs in flight', () => {
  it('a run that has ended before the response counts, and the response then changes nothing', () => {
    const world = new World({ rows: 1, concurrency: 1 });
    world.post(0, ['accepted']);
    world.finish('run-0', 'succeeded');
    expect(progress(world.state)).toMatchObject({ collecting: 1, ledger: { sent: 1, accepted: 1 } });
    world.answer(0, []);
    expect(world.state.ledger).toMatchObject({ sent: 1, accepted: 1, duplicates: 0 });
    expect(world.collects[0]?.rows[0]?.attempts[0]?.runId).toBe('run-0');
  });

  it.each([
    ['the response was lost', [{ ...FIRST, result: 'unconfirmed', reason: 'no answer' } as const]],
    ['its worker was lost, and did not report it', []],
  ])('a run that has ended before the response counts also if %s', (_, results) => {
    const world = new World({ rows: 1, concurrency: 1 });
    world.post(0, ['accepted']);
    world.finish('run-0', 'succeeded');
    world.end(results);
    expect(world.state.ledger).toMatchObject({ sent: 1, accepted: 1, unconfirmed: 0, duplicates: 0 });
    expect(progress(world.state)).toMatchObject({ collecting: 1, unconfirmed: 0 });
  });

  it('the response of a run that has failed before it leaves the next attempt of its row alone', () => {
    const world = proven(new World({ rows: 2, concurrency: 2 }));
    world.post(0, ['accepted']);
    world.finish('run-0', 'failed');
    world.pass(10_000);
    expect(world.sends.map(({ attempts }) => attempts)).toEqual([
      [
        { place: 1, attempt: 1 },
        { place: 2, attempt: 1 },
      ],
      [{ place: 1, attempt: 2 }],
    ]);
    world.answer(0, []);
    expect(world.state.rows.get(1)).toMatchObject({ phase: 'sending', attempt: 2 });
    world.answer(0, ['accepted']);
    expect(world.state.rows.get(1)).toMatchObject({ phase: 'running', attempt: 2, runId: 'run-2' });
  });

  it('a run that a webhook has named while its group is in flight is adopted when the worker is lost', () => {
    const world = new World({ rows: 2, concurrency: 2 });
    world.apply({ type: 'runsSeen', runs: [{ place: 2, attempt: 1, runId: 'seen' }] });
    world.answer(0, ['accepted', 'lost'], true);
    expect(progress(world.state)).toMatchObject({ running: 2, unconfirmed: 0 });
    expect(world.state.ledger).toMatchObject({ sent: 2, accepted: 2 });
  });

  it.each(['rejected', 'blocked', 'throttled', 'unconfirmed', 'left-out'] as const)(
    'a run that a webhook has named while its group is in flight is adopted although its POST was %s',
    (result) => {
      const world = new World({ rows: 2, concurrency: 1 });
      world.apply({ type: 'runsSeen', runs: [runOfFirst('seen')] });
      world.end([{ ...FIRST, result, reason: 'why' }]);
      expect(world.runOf(1)).toBe('seen');
      expect(world.state.ledger).toMatchObject({ sent: 1, accepted: 1 });
      expect(world.state.pauses.size).toBe(0);
      expect(world.problems).toEqual([]);
    },
  );

  it('a run that shows while a POST is in flight is that of this POST, although an earlier one was turned away as well', () => {
    const world = new World({ rows: 1, concurrency: 1 });
    world.answer(0, ['throttled']);
    world.pass(50);
    world.apply({ type: 'runsSeen', runs: [runOfFirst('one')] });
    world.answer(0, ['throttled']);
    expect(world.runOf(1)).toBe('one');
    expect(world.state.ledger).toMatchObject({ sent: 2, throttled: 1, accepted: 1 });
  });

  it('a run that shows while a POST is not sent is that of an earlier POST which seemed to be turned away', () => {
    const world = new World({ rows: 1, concurrency: 1 });
    world.answer(0, ['throttled']);
    world.pass(50);
    expect(world.sends).toHaveLength(1);
    world.apply({ type: 'runsSeen', runs: [runOfFirst('one'), runOfFirst('two')] });
    world.end([{ ...FIRST, result: 'not-sent' }]);
    expect(world.runOf(1)).toBe('one');
    expect(world.state.ledger).toMatchObject({ sent: 1, throttled: 0, accepted: 1, duplicates: 1 });
  });

  it('the run that a response names is a duplicate if its row has ended by another one', () => {
    const world = new World({ rows: 1, concurrency: 1 });
    const completions = [{ ...runOfFirst('early'), outcome: 'succeeded' as const }];
    world.apply({ type: 'runsCompleted', by: 'webhook', completions });
    world.end([{ ...FIRST, result: 'accepted', runId: 'named' }]);
    expect([...world.state.reported]).toEqual(['named']);
    expect(world.cancels[0]?.runs).toEqual([runOfFirst('named')]);
  });
});

describe('cancelled', () => {
  it('a batch that is cancelled while a group is in flight sends nothing of it again', () => {
    const world = new World({ rows: 3, concurrency: 3 });
    world.apply({ type: 'cancel', running: false });
    world.answer(0, ['not-sent', 'throttled', 'blocked']);
    world.settle();
    expect(world.problems).toEqual([]);
    expect(world.state.tally.outcomes.cancelled).toBe(3);
    expect(world.folder.rows.get(1)?.attempts[0]).toMatchObject({ reason: 'cancelled before it was sent' });
  });
});
