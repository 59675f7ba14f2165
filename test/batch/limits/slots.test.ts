import { describe, expect, it } from 'vitest';
import { slots } from '../../../src/batch/limits/limits.ts';
import { begin } from '../../../src/batch/state/begin.ts';
import { freeSlots, usedSlots } from '../../../src/batch/state/state.ts';
import { paramsOf } from '../params.ts';
import { runOfFirst } from '../scenes.ts';
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
