import { describe, expect, it } from 'vitest';
import { SHORT_REASON_BYTES } from '../../../src/batch/bounds.ts';
import { running, runOfFirst } from '../scenes.ts';

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
