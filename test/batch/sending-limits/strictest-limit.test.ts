import { describe, expect, it } from 'vitest';
import { GROUP_ATTEMPTS, GROUPS_IN_FLIGHT } from '../../../src/batch/bounds.ts';
import { slots } from '../../../src/batch/decisions/send.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import { maySnapshot } from '../../../src/batch/state/snapshot.ts';
import { begin, freeSlots, usedSlots } from '../../../src/batch/state/state.ts';
import { MAX_PROBE_MS, PROBE_MS } from '../../../src/batch/pausing/pauses.ts';
import { paramsOf } from '../params.ts';
import { proven, running, runOfFirst } from '../scenes.ts';
import { World } from '../world.ts';

const phases = { waiting: 5, sending: 1, running: 2, unconfirmed: 1, ended: 9 };

describe('slots', () => {
  it('the slots of a batch are held by whatever may be a run', () => {
    expect(usedSlots({ phases })).toBe(4);
    expect(freeSlots({ phases, params: paramsOf({ concurrency: 6 }) })).toBe(2);
  });

  it('the number of free slots is never negative, also if a run turns up that had no slot', () => {
    expect(freeSlots({ phases, params: paramsOf({ concurrency: 3 }) })).toBe(0);
    const world = new World({ rows: 3, concurrency: 1 });
    world.answer(0, ['blocked']);
    world.apply({ type: 'resume' });
    world.answer(0, ['throttled']);
    world.pass(1_000);
    world.apply({ type: 'runsSeen', runs: [runOfFirst('run-a')] });
    world.answer(0, ['accepted']);
    expect(world.problems).toEqual([]);
  });

  it('the slots of a batch allow as many attempts as are free, and none before one is', () => {
    const state = begin(paramsOf({ concurrency: 6 }), 1, 0);
    Object.assign(state.phases, phases);
    expect(slots(state)).toEqual({ at: 0, most: 2 });
    state.phases.running = 4;
    expect(slots(state)).toEqual({ at: Number.POSITIVE_INFINITY, most: 0 });
  });
});

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
    expect([gaps[0], gaps[1], gaps.at(-1)]).toEqual([PROBE_MS, 2 * PROBE_MS, MAX_PROBE_MS]);
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

describe('groups in flight', () => {
  it('at most 64 groups are in flight, and no timer is set for what only a response can change', () => {
    const world = proven(new World({ rows: 5_000, concurrency: 4_000 }));
    expect(world.sends).toHaveLength(GROUPS_IN_FLIGHT);
    expect(world.waitMs).toBe(Number.POSITIVE_INFINITY);
    world.answer(0, ['rejected']);
    expect(world.sends).toHaveLength(GROUPS_IN_FLIGHT);
    expect(world.sends.at(-1)?.attempts).toHaveLength(GROUP_ATTEMPTS);
  });
});

describe('continue-as-new', () => {
  it('a batch that is to continue as new sends nothing more, so that no group keeps it back, and goes on afterwards', () => {
    const world = running({ rows: 10, concurrency: 2 });
    world.apply({ type: 'stopSending' });
    world.finish('run-0', 'succeeded');
    expect(world.sends).toEqual([]);
    expect(maySnapshot(world.state)).toBe(true);
    world.continueAsNew();
    expect(world.sends).toHaveLength(1);
  });
});
