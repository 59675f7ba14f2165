import { describe, expect, it } from 'vitest';
import { REASON_BYTES, SHORT_REASON_BYTES } from '../../../src/batch/bounds.ts';
import { jsonBytes } from '../../../src/options/clipped.ts';
import type { RunCompletion } from '../../../src/batch/events.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import { running, runOfFirst, unconfirmed } from '../scenes.ts';
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
