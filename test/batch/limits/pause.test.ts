import { describe, expect, it } from 'vitest';
import { PROBE_MAX_MS, PROBE_MS } from '../../../src/batch/pausing/pauses.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import { runOfFirst } from '../scenes.ts';
import { World } from '../world.ts';

/** Ends the oldest group: all of its attempts are blocked. */
const blockAll = (world: World, reason = '401: Revoked token'): void => {
  const attempts = world.sends[0]?.attempts ?? [];
  world.end(attempts.map((attempt) => ({ ...attempt, result: 'blocked', reason })));
};

describe('blocked', () => {
  it('a blocked batch keeps its rows, and sends one attempt now and then, less and less often, until one is accepted', () => {
    const world = new World({ rows: 20, concurrency: 5 });
    blockAll(world);
    const gaps: number[] = [];
    for (let probe = 0; probe < 8; probe += 1) {
      gaps.push(world.waitMs);
      world.pass(world.waitMs - 1);
      expect(world.sends).toEqual([]);
      world.pass(1);
      expect(world.sends.map(({ attempts }) => attempts.length)).toEqual([1]);
      expect(progress(world.state)).toMatchObject({ state: 'paused', reason: '401: Revoked token' });
      blockAll(world);
    }
    expect([gaps[0], gaps[1], gaps.at(-1)]).toEqual([PROBE_MS, 2 * PROBE_MS, PROBE_MAX_MS]);
    world.pass(world.waitMs);
    world.answer(0, ['accepted']);
    expect(progress(world.state).state).toBe('running');
    expect(world.sends.at(-1)?.attempts).toHaveLength(4);
    world.settle();
    expect(world.problems).toEqual([]);
    expect(world.state.tally.outcomes.succeeded).toBe(20);
  });

  it('a blocked batch goes on also when a row is rejected for itself: the service works again', () => {
    const world = new World({ rows: 3, concurrency: 1 });
    blockAll(world);
    world.pass(PROBE_MS);
    world.answer(0, ['rejected']);
    expect(progress(world.state)).toMatchObject({ state: 'running', sending: 1 });
  });

  it('a blocked batch lets what is in flight go on', () => {
    const world = new World({ rows: 70, concurrency: 64 });
    world.answer(0, ['accepted']);
    blockAll(world, '403: no credits');
    expect(progress(world.state)).toMatchObject({ state: 'paused', running: 32, retrying: 32 });
    world.finish('run-0', 'succeeded');
    expect(progress(world.state)).toMatchObject({ running: 31, collecting: 1, sending: 0 });
  });

  it('a blocked batch does not probe while an earlier group is still in flight', () => {
    const world = new World({ rows: 70, concurrency: 64 });
    blockAll(world);
    world.pass(PROBE_MS);
    expect(world.sends).toHaveLength(1);
    world.answer(0, ['blocked']);
    expect(world.sends.map(({ attempts }) => attempts.length)).toEqual([1]);
  });

  it('a blocked batch keeps its pause over a continue-as-new', () => {
    const world = new World({ rows: 3, concurrency: 1 });
    blockAll(world);
    world.continueAsNew();
    expect(progress(world.state)).toMatchObject({ state: 'paused', pauses: [{ kind: 'blocked' }] });
    expect(world.sends).toEqual([]);
    world.pass(PROBE_MS);
    expect(world.sends).toHaveLength(1);
  });
});

describe('several pauses', () => {
  it('a batch that is paused for several reasons goes on when the last one is gone', () => {
    const world = new World({ rows: 3, concurrency: 2 });
    world.answer(0, ['accepted', 'blocked']);
    world.apply({ type: 'serviceRead', reason: '401' });
    expect(progress(world.state).pauses.map(({ kind }) => kind)).toEqual(['blocked', 'unreadable']);
    world.pass(PROBE_MS);
    expect(world.sends).toEqual([]);
    world.apply({ type: 'serviceRead' });
    expect(world.sends).toHaveLength(1);
    world.answer(0, ['accepted']);
    expect(progress(world.state).state).toBe('running');
  });

  it('a blocked batch goes on also if the run of its probe shows before the response', () => {
    const world = new World({ rows: 1, concurrency: 1 });
    blockAll(world);
    world.apply({ type: 'runsSeen', runs: [runOfFirst('run-a')] });
    expect(progress(world.state)).toMatchObject({ state: 'running', running: 1 });
  });
});
