import { describe, expect, it } from 'vitest';
import { GROUP_ATTEMPTS, GROUPS_IN_FLIGHT } from '../../../src/batch/bounds.ts';
import { World } from '../world.ts';

describe('groups in flight', () => {
  it('at most 64 groups are in flight, and no timer is set for what only a response can change', () => {
    const world = new World({ rows: 5_000, concurrency: 4_000 });
    expect(world.sends).toHaveLength(GROUPS_IN_FLIGHT);
    expect(world.waitMs).toBe(Number.POSITIVE_INFINITY);
    world.answer(0, ['rejected']);
    expect(world.sends).toHaveLength(GROUPS_IN_FLIGHT);
    expect(world.sends.at(-1)?.attempts).toHaveLength(GROUP_ATTEMPTS);
  });
});
