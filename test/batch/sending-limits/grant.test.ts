import { describe, expect, it } from 'vitest';
import { progress } from '../../../src/batch/shown/progress.ts';
import { usedSlots } from '../../../src/batch/state/state.ts';
import { World } from '../world.ts';

const inPool = () => new World({ pool: 'gpus', rows: 10, concurrency: 6 });
const granted = (world: World, limit: number, epoch: number, life = world.state.membership?.life ?? 0) =>
  world.apply({ type: 'grant', life, epoch, limit });

describe('a batch in a pool', () => {
  it('sends nothing without a grant, and never more than was granted', () => {
    const world = inPool();
    expect(world.sends).toEqual([]);
    expect(progress(world.state)).toMatchObject({
      pool: 'gpus',
      granted: 0,
      reason: 'waits for pool gpus to grant slots',
    });
    granted(world, 3, 10);
    expect(world.sends.flatMap(({ attempts }) => attempts)).toHaveLength(3);
    expect(progress(world.state)).toMatchObject({ granted: 3 });
    expect(progress(world.state)).not.toHaveProperty('reason');
    granted(world, 99, 11);
    expect(usedSlots(world.state)).toBe(6);
  });

  it('starts nothing after a lower grant until enough runs have ended', () => {
    const world = inPool();
    granted(world, 4, 10);
    world.answer(0, ['accepted']);
    granted(world, 3, 11);
    const [first, second] = world.service.runs.map(({ runId }) => runId) as [string, string];
    world.finish(first, 'succeeded');
    expect(world.sends).toEqual([]);
    world.finish(second, 'succeeded');
    expect(world.sends.flatMap(({ attempts }) => attempts)).toHaveLength(1);
    granted(world, 0, 12);
    expect(progress(world.state).reason).toBe('pool gpus has no free slot for this batch');
  });

  it('ignores grants that are old, of another membership, or no numbers', () => {
    const world = inPool();
    granted(world, 2, 10);
    granted(world, 5, 9);
    granted(world, 5, 10);
    granted(world, 5, 11, 1);
    granted(world, Number.NaN, 12);
    granted(world, 1.5, 13);
    expect(world.state.membership).toMatchObject({ epoch: 10, limit: 2 });
    const alone = new World();
    alone.apply({ type: 'grant', life: 1, epoch: 1, limit: 1 });
    alone.apply({ type: 'usageReported' });
    expect(alone.state.membership).toBeUndefined();
    expect(usedSlots(alone.state)).toBe(4);
  });

  it('says that its pool cannot be reached', () => {
    const world = inPool();
    world.apply({ type: 'usageReported', failure: 'not found' });
    expect(progress(world.state).reason).toBe('pool gpus cannot be reached: not found');
    expect(world.published.at(-1)?.reason).toBe('waits for pool gpus to grant slots');
    world.pass(500);
    expect(world.published.at(-1)?.reason).toBe('pool gpus cannot be reached: not found');
  });

  it('wants no reason once nothing is left to send', () => {
    const world = inPool();
    world.apply({ type: 'cancel', running: false });
    expect(progress(world.state).reason).toBe('waiting for the results to be written');
  });
});
