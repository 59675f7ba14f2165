import { describe, expect, it } from 'vitest';
import { REASON_BYTES, SHORT_REASON_BYTES } from '../../../src/batch/bounds.ts';
import type { RunCompletion } from '../../../src/batch/events.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import { jsonBytes } from '../../../src/options/text/clipped.ts';
import { proven, running, runOfFirst, unconfirmed } from '../scenes.ts';
import { World } from '../world.ts';

const completed = (completion: Partial<RunCompletion>, by: 'webhook' | 'poll' = 'webhook') =>
  ({
    type: 'runsCompleted',
    by,
    completions: [{ ...runOfFirst('run-0'), outcome: 'succeeded', ...completion }],
  }) as const;

describe('runs completed', () => {
  it('the end of a run frees its slot, and its row is collected', () => {
    const world = running({ rows: 2, concurrency: 1 });
    world.apply(completed({}));
    expect(progress(world.state)).toMatchObject({ collecting: 1, sending: 1, running: 0 });
  });

  it('the end of a run without success gives its row another attempt as far as the policy goes, then its outcome', () => {
    const world = running({ rows: 1, concurrency: 1, retries: 1 });
    world.apply(completed({ outcome: 'timed-out', reason: 'it took 5 min' }));
    expect(world.state.rows.get(1)).toMatchObject({
      phase: 'waiting',
      attempt: 2,
      tries: 1,
      past: [{ attempt: 1, outcome: 'timed-out', runId: 'run-0', reason: 'it took 5 min' }],
    });
    world.pass(60_000);
    world.answer(0, ['accepted']);
    world.finish('run-1', 'failed');
    expect(world.collects[0]?.rows[0]?.attempts.map(({ outcome }) => outcome)).toEqual([
      'timed-out',
      'failed',
    ]);
    expect(progress(world.state).lastFailure).toEqual({ place: 1, outcome: 'failed' });
  });

  it('a run that fails is not tried again once the batch is cancelled', () => {
    const world = running({ rows: 1, concurrency: 1, retries: 5 });
    world.apply({ type: 'cancel', running: false });
    world.apply(completed({ outcome: 'failed' }));
    expect(world.collects[0]?.rows[0]?.attempts.map(({ outcome }) => outcome)).toEqual(['failed']);
  });

  it('the end of a run keeps as much of its reason as fits, and less if another attempt follows', () => {
    const last = running({ rows: 1, concurrency: 1, retries: 0 });
    last.apply(completed({ outcome: 'failed', reason: 'x'.repeat(5_000) }));
    expect(progress(last.state).lastFailure?.reason).toHaveLength(REASON_BYTES);
    const again = running({ rows: 1, concurrency: 1, retries: 1 });
    again.apply(completed({ outcome: 'failed', reason: 'x'.repeat(5_000) }));
    expect(jsonBytes(again.state.rows.get(1)?.past[0]?.reason ?? '')).toBe(SHORT_REASON_BYTES);
  });

  it('the end of a run adopts an unconfirmed attempt, one that waits and one in flight', () => {
    const doubtful = unconfirmed();
    doubtful.apply(completed({}));
    expect(doubtful.state.ledger).toMatchObject({ unconfirmed: 1, adopted: { webhook: 1, list: 0 } });
    const throttled = new World({ rows: 1, concurrency: 1 });
    throttled.answer(0, ['throttled']);
    throttled.apply(completed({}));
    expect(throttled.state.ledger).toMatchObject({ sent: 1, throttled: 0, accepted: 1 });
    const sent = new World({ rows: 1, concurrency: 1 });
    sent.apply(completed({}));
    expect(sent.state.ledger).toMatchObject({ sent: 1, accepted: 1 });
    for (const { collects } of [doubtful, throttled, sent])
      expect(collects[0]?.rows[0]?.attempts[0]).toMatchObject({ outcome: 'succeeded', runId: 'run-0' });
  });

  it('the end of a run of another attempt or of another row, and an end that is reported twice, change nothing', () => {
    const world = running({ rows: 9, concurrency: 1 });
    world.apply(completed({ attempt: 2 }, 'poll'), completed({ place: 9 }, 'poll'));
    expect(world.runOf(1)).toBe('run-0');
    expect(world.state.evidence.size).toBe(0);
    world.apply(completed({}), completed({ outcome: 'failed' }));
    expect(world.state.rows.get(1)).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });

  it('the end of a run of a row that the state has forgotten is kept for the close if a webhook reports it', () => {
    const world = running({ rows: 9, concurrency: 1 });
    world.apply(completed({}));
    world.pass(1_000);
    world.collect();
    world.apply(completed({}, 'poll'));
    expect(world.state.evidence.size).toBe(0);
    world.apply(completed({}));
    expect([...world.state.evidence.keys()]).toEqual(['run-0']);
  });

  it('the end of a run of another run than the one its row has is a duplicate that needs no cancel', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.apply(completed({ runId: 'other', outcome: 'failed' }));
    expect(world.runOf(1)).toBe('run-0');
    expect(world.state.ledger.duplicates).toBe(1);
    expect(world.cancels).toEqual([]);
  });

  it('ends that a group carries count after its own results, also if they end a run of the group', () => {
    const world = running({ rows: 3, concurrency: 2 });
    world.finish('run-0', 'succeeded');
    const [send] = world.sends;
    const end = (place: number, runId: string) =>
      ({ place, attempt: 1, runId, outcome: 'succeeded' }) as const;
    world.apply({
      type: 'groupEnded',
      group: send?.group ?? 0,
      results: [{ place: 3, attempt: 1, result: 'accepted', runId: 'run-2' }],
      rest: 'unconfirmed',
      ends: { by: 'webhook', completions: [end(2, 'run-1'), end(3, 'run-2')] },
    });
    expect(world.state.phases).toMatchObject({ sending: 0, running: 0 });
    expect(world.state.ledger.accepted).toBe(3);
    expect(world.collects.flatMap(({ rows }) => rows.map(({ place }) => place))).toEqual([1, 2, 3]);
  });

  it('ends that a group carries count even if the batch does not know the group', () => {
    const world = running({ rows: 1, concurrency: 1 });
    const completions = [{ place: 1, attempt: 1, runId: 'run-0', outcome: 'succeeded' }] as const;
    world.apply({
      type: 'groupEnded',
      group: 99,
      results: [],
      rest: 'unconfirmed',
      ends: { by: 'poll', completions },
    });
    expect(world.state.completedBy).toBe('poll');
    expect(world.collects).toHaveLength(1);
  });
});

const seen = { type: 'runsSeen', runs: [runOfFirst('seen')] } as const;

describe('runs seen', () => {
  it.each(['throttled', 'not-sent', 'blocked'] as const)(
    'a run that turns up is adopted by a row that waits because its POST seemed to be %s: it is not sent again',
    (result) => {
      const world = new World({ rows: 1, concurrency: 1 });
      world.answer(0, [result]);
      world.apply(seen);
      expect(world.runOf(1)).toBe('seen');
      expect(world.state.ledger).toMatchObject({ sent: 1, throttled: 0, blocked: 0, accepted: 1 });
      world.pass(60_000);
      expect(world.sends).toEqual([]);
    },
  );

  it('a run that turns up is remembered by a row in flight, whose response decides', () => {
    const world = new World({ rows: 1, concurrency: 1 });
    world.apply(seen, seen);
    expect(world.state.rows.get(1)).toMatchObject({ phase: 'sending', seen: ['seen'] });
    expect(progress(world.state)).toMatchObject({ sending: 1, running: 0 });
  });

  it('a run that has failed and turns up again is not adopted by the next attempt of its row', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.finish('run-0', 'failed');
    world.apply({ type: 'runsSeen', runs: [runOfFirst('run-0')] });
    expect(world.state.rows.get(1)).toMatchObject({ phase: 'waiting', attempt: 2 });
    expect(world.state.ledger).toMatchObject({ accepted: 1, duplicates: 0 });
  });

  it('a run that turns up is adopted by an unconfirmed row', () => {
    const world = unconfirmed();
    world.apply(seen);
    expect(world.runOf(1)).toBe('seen');
    expect(world.state.ledger.adopted).toEqual({ webhook: 1, list: 0 });
  });

  it('a run of another attempt than the one that is unconfirmed is kept for the close', () => {
    const world = unconfirmed();
    world.apply({ type: 'runsSeen', runs: [runOfFirst('seen', 2)] });
    expect(progress(world.state).unconfirmed).toBe(1);
    expect([...world.state.evidence.keys()]).toEqual(['seen']);
  });

  it('a run that turns up is a duplicate of a row that runs, that was refused, or that has ended, and is cancelled', () => {
    const runs = running({ rows: 2, concurrency: 1 });
    const refused = proven(new World({ rows: 2, concurrency: 1 }));
    refused.answer(0, ['rejected']);
    const ended = running({ rows: 2, concurrency: 1 });
    ended.finish('run-0', 'succeeded');
    for (const world of [runs, refused, ended]) {
      world.apply(seen);
      expect(world.cancels.map(({ runs: named }) => named)).toEqual([[runOfFirst('seen')]]);
      expect(world.state.ledger.duplicates).toBe(1);
    }
  });

  it('a run that turns up is nothing new if its row has it', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.apply({ type: 'runsSeen', runs: [runOfFirst('run-0')] });
    expect([world.cancels.length, world.state.evidence.size]).toEqual([0, 0]);
  });

  it('a run of a row that was never sent is kept for the close', () => {
    const world = running({ rows: 9, concurrency: 1 });
    world.apply({ type: 'runsSeen', runs: [{ place: 9, attempt: 1, runId: 'early' }] });
    expect([...world.state.evidence.keys()]).toEqual(['early']);
  });
});

const late = { ...runOfFirst('run-0'), reason: 'it did not start within 24 h' };

describe('overdue runs', () => {
  it('a run that takes too long is cancelled once, and its row is tried again when it has ended, as after a time-out', () => {
    const world = running({ rows: 1, concurrency: 1, retries: 1 });
    world.apply({ type: 'runsOverdue', runs: [late, late] });
    world.apply({ type: 'runsOverdue', runs: [late] });
    expect(world.cancels.map(({ runs }) => runs)).toEqual([[runOfFirst('run-0')]]);
    expect(world.sends).toEqual([]);
    world.finish('run-0', 'cancelled');
    expect(world.state.rows.get(1)).toMatchObject({
      phase: 'waiting',
      attempt: 2,
      past: [{ outcome: 'timed-out', reason: 'it did not start within 24 h, and was cancelled' }],
    });
  });

  it('a run that is cancelled because it takes too long has its own end if it comes to one', () => {
    const world = running({ rows: 1, concurrency: 1, retries: 0 });
    world.apply({ type: 'runsOverdue', runs: [late] });
    world.finish('run-0', 'succeeded');
    expect(world.collects[0]?.rows[0]?.attempts).toMatchObject([{ outcome: 'succeeded' }]);
  });

  it('only the run that its row has now can take too long', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.apply({
      type: 'runsOverdue',
      runs: [
        { ...late, runId: 'other' },
        { ...late, place: 7 },
        { ...late, attempt: 2 },
      ],
    });
    expect(world.cancels).toEqual([]);
  });

  it('a run that is reported as overdue again gets no more time to end', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.apply({ type: 'runsOverdue', runs: [late] });
    const { now } = world.state;
    world.pass(30_000);
    world.apply({ type: 'runsOverdue', runs: [late] });
    expect(world.state.rows.get(1)).toMatchObject({ overdue: { at: now } });
  });

  it('a row keeps little of the reason why its run takes too long', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.apply({ type: 'runsOverdue', runs: [{ ...late, reason: 'x'.repeat(500) }] });
    expect(world.state.rows.get(1)).toMatchObject({ overdue: { reason: 'x'.repeat(SHORT_REASON_BYTES) } });
  });
});

describe('answered cancels', () => {
  it('a cancel that the service has answered starts the time that an overdue run has left, and leaves every other run as it is', () => {
    const world = running({ rows: 2, concurrency: 2 });
    world.apply({ type: 'runsOverdue', runs: [late] });
    world.apply({ type: 'cancel', running: true });
    world.pass(5_000);
    while (world.cancels.length > 0) world.cancel(false);
    expect(world.state.rows.get(1)).toMatchObject({ overdue: { at: world.state.now } });
    expect(world.state.rows.get(2)).not.toHaveProperty('overdue');
  });

  it('a cancel that the service has answered puts its run behind those whose cancels were answered before', () => {
    const world = running({ rows: 2, concurrency: 2 });
    world.apply({ type: 'runsOverdue', runs: [late] });
    world.apply({ type: 'runsOverdue', runs: [{ ...late, place: 2, runId: 'run-1' }] });
    world.cancels.reverse();
    world.cancel(false);
    world.pass(10_000);
    world.cancel(false);
    expect([...world.state.overdue]).toEqual([2, 1]);
  });

  it('a cancel that the service has answered means nothing to a row whose run has ended meanwhile', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.apply({ type: 'runsOverdue', runs: [late] });
    world.finish('run-0', 'succeeded');
    world.cancel();
    expect(world.state.cancels.size).toBe(0);
    world.settle();
    expect(world.problems).toEqual([]);
  });
});
