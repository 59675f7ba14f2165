import { describe, expect, it } from 'vitest';
import { COLLECT_AFTER_MS } from '../../src/batch/limits.ts';
import { view } from '../../src/batch/view.ts';
import { TIMING, World, underWay } from './world.ts';

describe('collecting', () => {
  it('waits a second for company, and not at all for what is last', () => {
    const world = underWay({ rows: 3, cap: 2, timing: { ...TIMING, pollIntervalMs: 10_000 } });
    world.finish('run-0', 'succeeded');
    world.answer(0, ['accepted']);
    expect(world.collects).toHaveLength(0);
    expect(world.workAt - world.now).toBe(COLLECT_AFTER_MS);
    world.pass(COLLECT_AFTER_MS);
    expect(world.collects[0]?.rows).toHaveLength(1);
    world.finish('run-1', 'succeeded');
    world.finish('run-2', 'succeeded');
    expect(world.collects[1]?.rows).toHaveLength(2);
  });

  it('has at most eight parts under way', () => {
    const world = underWay({ rows: 2_000, cap: 1_200 });
    for (const { runId } of world.runs.slice()) world.finish(runId, 'succeeded');
    expect(world.collects).toHaveLength(8);
    world.collect();
    expect(world.collects).toHaveLength(8);
  });

  it('asks again for parts that the workflow run before this one had asked for', () => {
    const world = underWay({ rows: 1, cap: 1 });
    world.finish('run-0', 'succeeded');
    const before = world.collects[0];
    world.carry();
    expect(world.collects).toEqual([before]);
  });

  it('a part that nobody waits for is not counted', () => {
    const world = underWay({ rows: 2, cap: 1 });
    world.tell({
      type: 'collected',
      part: 77,
      tally: { ...world.state.tally, outcomes: { ...world.state.tally.outcomes, succeeded: 5 } },
    });
    expect(view(world.state).done).toBe(0);
  });
});

describe('cancelling', () => {
  it('ends rows that wait, keeps runs going, and counts what was never sent', () => {
    const world = underWay({ rows: 10, cap: 2 });
    world.finish('run-0', 'failed');
    world.answer(0, ['accepted']);
    world.tell({ type: 'cancel', running: false });
    expect(view(world.state)).toMatchObject({ state: 'cancelling', running: 2, retrying: 0 });
    world.settle();
    expect(world.problems).toEqual([]);
    expect(view(world.state).tally.outcomes).toMatchObject({ succeeded: 2, cancelled: 8 });
  });

  it('cancels the runs too, those that are accepted later as well, and again after a continue-as-new', () => {
    const world = underWay({ rows: 4, cap: 4 });
    const fresh = new World({ rows: 1, cap: 1 });
    fresh.tell({ type: 'cancel', running: true });
    fresh.answer(0, ['accepted']);
    expect(fresh.runs[0]?.status).toBe('cancelled');
    world.tell({ type: 'cancel', running: true });
    expect(world.runs.every(({ status }) => status === 'cancelled')).toBe(true);
    world.runs.forEach((run) => (run.status = 'open'));
    world.carry();
    expect(world.runs.every(({ status }) => status === 'cancelled')).toBe(true);
  });

  it('once for all cannot be made milder, and means nothing when all is written', () => {
    const world = underWay({ rows: 1, cap: 1 });
    world.tell({ type: 'cancel', running: true });
    world.tell({ type: 'cancel', running: false });
    expect(world.state.cancelling).toBe('running');
    const done = underWay({ rows: 1, cap: 1 });
    done.settle();
    done.tell({ type: 'cancel', running: true });
    expect(done.state.cancelling).toBeUndefined();
  });

  it('is an answer to a pause, and a row that could not be sent stays unsent', () => {
    const world = new World({ rows: 2, cap: 2 });
    world.tell({ type: 'cancel', running: false });
    world.answer(0, ['not-sent', 'not-processed']);
    world.settle();
    expect(world.problems).toEqual([]);
    expect(view(world.state).tally.outcomes.cancelled).toBe(2);
  });
});
